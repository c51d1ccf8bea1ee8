"""A recorded network gives the bits of the network, or is not used."""

from __future__ import annotations

import pytest
import torch
from transformers import BertConfig, BertModel

from mmmem.encoders.tracing import States, traced


def network(**config):
    torch.manual_seed(5)
    sizes = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    return BertModel(BertConfig(**sizes, intermediate_size=64, max_position_embeddings=64, **config)).train(False)


@pytest.fixture
def bert():
    return network()


@torch.no_grad()
@pytest.mark.parametrize(("batch", "length", "padding"), [(1, 16, 0), (1, 64, 5), (2, 16, 3), (9, 32, 31), (17, 48, 1)])
def test_texts_of_any_number_and_length_get_the_same_bits(bert, batch, length, padding):
    recorded = traced(bert)
    assert not isinstance(recorded, States), "it could not be recorded"
    ids = (torch.arange(batch * length) * 7 % 40).reshape(batch, length)
    mask = torch.ones_like(ids)
    mask[0, length - padding :] = 0
    torch.testing.assert_close(recorded(ids, mask), States(network())(ids, mask), rtol=0, atol=0)


class Branching(torch.nn.Module):
    """What a recording cannot follow: it takes another way for other texts."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, input_ids, attention_mask):
        output = self.inner(input_ids=input_ids, attention_mask=attention_mask)
        if input_ids.shape[1] != 16:
            output.last_hidden_state = output.last_hidden_state * 2
        return output


class Stubborn(torch.nn.Module):
    """What cannot be recorded at all."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, input_ids, attention_mask):
        if torch.jit.is_tracing():
            raise RuntimeError("no recording, please")
        return self.inner(input_ids=input_ids, attention_mask=attention_mask)


@torch.no_grad()
@pytest.mark.parametrize("kind", [Branching, Stubborn])
def test_a_network_that_cannot_be_recorded_is_run_as_it_is(bert, kind):
    found = traced(kind(bert))
    ids = torch.arange(48).reshape(2, 24) % 40
    expected = kind(network())(ids, torch.ones_like(ids)).last_hidden_state
    torch.testing.assert_close(found(ids, torch.ones_like(ids)), expected, rtol=0, atol=0)
