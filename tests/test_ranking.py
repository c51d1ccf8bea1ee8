"""What a ranking promises beyond the channels: each switch does what its setting says."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from mmmem.retrieval.candidates import SAMPLE, candidates, sample
from mmmem.types import ImagePart
from tests.test_memory import ask, photo, say, searching, service, texts, user

__all__ = ["service", "user"]  # fixtures

DAY = 86_400_000
FILLER = (
    "It rained all night.",
    "The bus was late again.",
    "Lunch was soup.",
    "I like long walks.",
    "The lamp is broken.",
)


def explained(service, query):
    hits = service.explain(query)
    return hits, texts(hits)


def place(hits, words):
    return next(number for number, text in enumerate(texts(hits), 1) if words in text)


def test_the_right_option_brings_its_evidence_forward_whatever_the_others_say(service, user):
    service.add(say("The recital went well, she had practised the oboe for weeks.", "He sold his violin last year.",
                    "A trumpet was playing in the park.", "The drum kit stands in the cellar.",
                    "Piano tuning costs a lot.", *FILLER, user_id=user))  # fmt: skip
    options = ("A. a violin in the orchestra", "B. the oboe, for weeks", "C. a harp", "D. bagpipes")
    found = service.search(ask(user, "What did she practise?", options=options))
    assert place(found, "oboe") == 1
    assert place(found, "violin") < place(found, "rained")  # other options count too


@pytest.mark.parametrize(
    "question", ["Which answer best matches the memory?", "Which of these is true?", "哪个选项是正确的？"]
)
def test_a_question_that_says_nothing_leaves_it_to_its_options(service, user, question):
    told = ("It was true what they said, and the best answer to it.", "I have no memory for which match is which.")
    service.add(say("My sister plays the oboe.", *told, "The boat is green.", *FILLER, user_id=user))
    options = ("A. The boat is red", "B. The boat is green", "C. The boat is yellow", "D. It sank")
    assert "boat" in texts(service.search(ask(user, question, options=options)))[0]


def test_instructions_around_a_question_change_nothing(service, user):
    service.add(say("Please answer the door.", "My dog is called Rex.", "The conversation was short.", user_id=user))
    plain = service.search(ask(user, "What is my dog called?"))
    wrapped = "Hi! Based on our conversation history, answer briefly: What is my dog called?"
    assert service.search(ask(user, wrapped)) == plain


def test_four_options_do_not_drown_the_question(service, user):
    service.add(say("Ann: My birthday party is on Saturday at the lake.", "Ben: Monday is a holiday.",
                    "Ben: Tuesday is market day.", "Ben: On Wednesday we swim.", *FILLER, user_id=user))  # fmt: skip
    options = ("Monday, a holiday", "Tuesday, market day", "Wednesday, we swim", "Saturday")
    assert "birthday" in texts(service.search(ask(user, "When is Ann's birthday party?", options=options)))[0]


def test_the_newer_of_two_that_answer_alike_comes_first(service, user):
    service.add(say("My favourite colour is green these days.", user_id=user, request_id="a", session_id="a"))
    service.add(say(*FILLER, user_id=user, request_id="b", session_id="b", start=1_704_067_200_000 + DAY))
    new = say(
        "My favourite colour is blue these days.",
        user_id=user,
        request_id="c",
        session_id="c",
        start=1_704_067_200_000 + 90 * DAY,
    )
    service.add(new)
    found = service.search(ask(user, "What is my favourite colour?"))
    assert place(found, "blue") == 1
    assert place(found, "green") == 2


def test_a_fact_told_ten_times_leaves_room_for_others(service, user):
    for n in range(10):
        service.add(say("I'm allergic to peanuts!" if n % 2 else "i'm allergic to peanuts", user_id=user,
                        request_id=str(n), session_id=str(n)))  # fmt: skip
    service.add(say("I carry a pen for my allergy to bees.", *FILLER, user_id=user, request_id="bees"))
    found = service.search(ask(user, "What am I allergic to?"))
    assert place(found, "peanuts") == 1
    assert place(found, "bees") == 2
    assert sum("peanuts" in text for text in texts(found)) == 10, "repeats come last, none is lost"
    assert sum("peanuts" in text for text in texts(service.search(ask(user, "What am I allergic to?", top_k=4)))) == 1
    kept = searching(service, deduplicate=False)(ask(user, "What am I allergic to?"))
    assert place(kept, "bees") > 2


@pytest.mark.parametrize("again", ["Where is the spare key?", "where is the spare key", "WHERE IS THE SPARE KEY??"])
def test_a_question_that_was_told_before_does_not_answer_itself(service, user, again):
    service.add(say("The spare key hangs behind the piano.", *FILLER, "Where is the spare key?", user_id=user))
    found = service.search(ask(user, again))
    assert "piano" in texts(found)[0]
    assert "Where is" in texts(found)[-1], "it is still there"


def test_a_statement_is_found_by_its_own_words(service, user):
    service.add(say("Buy milk.", "I like milk.", *FILLER, user_id=user))
    assert "Buy milk" in texts(service.search(ask(user, "buy milk")))[0]


def test_a_question_that_the_encoder_cannot_read_is_not_reranked_by_its_punctuation(service, user):
    service.add(say("护照明年三月到期。", "我们去吃面吧？？？", "好的，明天见。", "What?", *FILLER, user_id=user))
    assert "护照" in texts(service.search(ask(user, "护照什么时候到期？")))[0]
    explanations = [hit.explanation for hit in service.explain(ask(user, "护照什么时候到期？"))]
    assert all(explanation.reranked is None for explanation in explanations)


def test_the_same_words_with_another_picture_or_by_another_role_are_no_repeat(service, user):
    service.add(say("look at this", "fine", user_id=user))
    service.add(say("look at this", user_id=user, role="assistant", request_id="b"))
    service.add(
        say([*say("look at this", user_id=user).messages[0].parts, photo("coffee.png")], user_id=user, request_id="c")
    )
    assert [text.split(": ", 1)[1] for text in texts(service.search(ask(user, "look at this")))].index("fine") == 3


KAYAK = [f"The red kayak was repaired on day {n}, and the kayak is fine." for n in range(12)]


@pytest.mark.parametrize(
    "question",
    [
        "What happened to the kayak and to the tent?",
        "On which day was the kayak repaired, and who has the tent now?",
        "Was the red kayak repaired? Who has the tent?",
    ],
)
def test_a_question_for_two_things_has_evidence_for_both_among_the_first(service, user, question):
    service.add(say(*KAYAK, "We gave the old one to Omar, who needs a tent.", *FILLER, user_id=user))
    found = texts(service.search(ask(user, question, top_k=30)))
    assert any("tent" in text for text in found[:10])
    assert sum("kayak" in text for text in found[:10]) >= 5
    assert len(found) == len(set(found)) == 12 + 1 + len(FILLER), "nothing is lost or doubled"


def test_two_people_asked_about_together_each_have_their_places(service, user):
    ann = [f"Ann: I went swimming at the pool on day {n}." for n in range(25)]
    service.add(say(*ann, "Bob: It was the lake again before work.", *FILLER, user_id=user))
    together = ask(user, "Where do Ann and Bob swim?", top_k=30)
    assert any("Bob" in text for text in texts(service.search(together))[:10])


def test_last_week_is_the_week_before_the_newest_memory(service, user):
    monday = 1_704_067_200_000  # 2024-01-01
    for week, what in enumerate(("pottery", "chess", "rowing", "fencing")):
        told = monday + 7 * week * DAY
        service.add(say(f"I tried {what}.", *FILLER, user_id=user, request_id=what, session_id=what, start=told))
    assert "rowing" in texts(service.search(ask(user, "What did I try last week?")))[0]
    ago = {
        hit.explanation.channels["date"].rank: text
        for hit, text in zip(*explained(service, ask(user, "What did I try two weeks ago?")), strict=True)
    }
    assert ago[1].startswith("[2024-01-08"), "the week of the chess"
    assert "pottery" in texts(service.search(ask(user, "What did I try on 1 January 2024?")))[0]


def test_relative_times_are_read_in_chinese(service, user):
    monday = 1_704_067_200_000
    for week, what in enumerate(("陶艺", "象棋", "划船", "击剑")):
        told = monday + 7 * week * DAY
        service.add(say(f"我试了{what}。", *FILLER, user_id=user, request_id=what, session_id=what, start=told))
    assert "象棋" in texts(service.search(ask(user, "两周前我试了什么？")))[0]
    assert "划船" in texts(service.search(ask(user, "上周我试了什么？")))[0]


def test_a_time_that_a_memory_speaks_of_counts_like_the_time_it_was_told(service, user):
    june = 1_718_841_600_000  # 2024-06-20, a Thursday
    service.add(
        say("Last month we were at the coast, it was lovely.", user_id=user, request_id="a", session_id="a", start=june)
    )
    service.add(
        say("We were at the mountains, it was lovely.", user_id=user, request_id="b", session_id="b", start=june)
    )
    service.add(say(*FILLER, user_id=user, request_id="c", session_id="c", start=june + DAY))
    assert "coast" in texts(service.search(ask(user, "Where were we in May 2024?")))[0]


def test_a_question_for_a_time_prefers_memories_that_speak_of_one(service, user):
    service.add(say("Ann: The dentist is a friend of mine.", "Ben: The dentist appointment is important.",
                    "Ann: I go to the dentist next Tuesday.", "Ben: My dentist is nice.", *FILLER, user_id=user))  # fmt: skip
    question = ask(user, "When is the dentist appointment?")
    without = searching(service, weight_when=0)(question)
    assert place(service.search(question), "next Tuesday") <= place(without, "next Tuesday")
    scored = {
        text: hit.explanation.channels
        for text, hit in zip(texts(service.explain(question)), service.explain(question), strict=True)
    }
    assert {text for text, channels in scored.items() if "when" in channels} == {
        text for text in scored if "Tuesday" in text
    }


def test_no_more_memories_or_characters_are_returned_than_set_and_always_the_best(service, user):
    service.add(say(*(f"Jar {n} holds beans." for n in range(30)), user_id=user))
    question = ask(user, "Which jar holds beans?")
    best = service.search(question)
    assert searching(service, max_return=7)(question) == best[:7]
    few = searching(service, max_return_chars=500, context_turns=0)(question)
    assert 1 < len(few) < 30
    assert sum(len(hit.memory.text) for hit in few) <= 500
    assert len(searching(service, max_return_chars=1)(question)) == 1


def test_of_many_memories_late_interaction_compares_candidates_and_says_the_same_of_them_as_of_all(service, user):
    things = ("kettle", "bicycle", "curtain", "violin", "ladder", "blanket", "mirror", "basket")
    service.add(say(*(f"On day {n} the {things[n % 8]} cost {n * 3} crowns." for n in range(160)),
                    "Ann: Who mended the old radio?", "Ben: Cousin Otto, on Sunday.", user_id=user))  # fmt: skip
    for question in ("How much was the violin on day 43?", "Who mended the radio?", "ladder"):
        everything = service.explain(ask(user, question, top_k=200))
        few = searching(service, exact_memories=1, candidates=20)(ask(user, question, top_k=200), explained=True)
        exact = {hit.memory.id: hit.explanation.channels["maxsim"].score for hit in everything}
        compared = {
            hit.memory.id: hit.explanation.channels["maxsim"].score
            for hit in few
            if "maxsim" in hit.explanation.channels
        }
        assert len(compared) >= 20
        assert compared == {id_: exact[id_] for id_ in compared}, "the same, to the bit"
        assert texts(few)[0] == texts(everything)[0]


def test_candidates_bring_the_answers_to_questions_among_them_and_the_other_way_round():
    scores = np.array([0.0, 9.0, 0.1, 0.2, 8.0, 0.3])
    previous = np.array([-1, 0, 1, 2, 3, 4])
    asks = np.array([False, True, False, True, False, False])
    assert candidates(scores, 2, previous, asks).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("n", [1, 2, SAMPLE, 100_000])
def test_a_sample_of_all_memories_is_spread_over_them(n):
    rows = sample(n)
    assert len(rows) == min(n, SAMPLE)
    assert rows[0] == 0
    assert rows[-1] == n - 1
    assert np.diff(rows).max(initial=0) <= n // SAMPLE + 2


def test_a_picture_alone_may_be_asked_of_a_large_user_without_pictures(service, user):
    service.add(say("One note.", "Another note.", "A third one.", user_id=user))
    plain = Image.new("RGB", (64, 64), "white")
    data = io.BytesIO()
    plain.save(data, "PNG")
    blank = ImagePart("data:image/png;base64", data.getvalue())
    assert len(searching(service, exact_memories=1, candidates=1)(ask(user, blank))) == 3


def test_the_whole_of_a_name_comes_before_its_parts(service, user):
    service.add(
        say(*(f"The tag zq000x00{n}x0{m} was noted, what has it?" for n in range(6) for m in range(6)), user_id=user)
    )
    assert "zq000x003x00" in texts(service.search(ask(user, "What has the tag zq000x003x00?")))[0]


def test_statements_that_differ_in_a_sign_are_no_repeats(service, user):
    service.add(say("x = -1", "x = 1", "2 > 1", "2 < 1", "He left?", "He left.", user_id=user))
    keys = service._store.arrays(user).keys
    assert len(set(keys.tolist())) == 6
