"""What the service promises, asked of the engine itself: real models, a real store, no HTTP."""

from __future__ import annotations

import io
import threading
from importlib.resources import files
from itertools import pairwise

import pytest
from PIL import Image, ImageDraw, ImageFont

from mmmem import wiring
from mmmem.errors import InvalidImage, RequestConflict, TooLarge
from mmmem.media.images import ImageReader
from mmmem.questions import QuestionEncoder
from mmmem.search import Search
from mmmem.settings import Settings
from mmmem.types import AddRequest, ImagePart, Message, Query, TextPart

TIME = 1_704_067_200_000


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    running = wiring.build_service(Settings(data_dir=str(tmp_path_factory.mktemp("data"))))
    yield running
    running.close()


@pytest.fixture
def user(request):
    return f"user of {request.node.name}"


def say(*contents, request_id="r1", session_id="s1", user_id, role="user", start=TIME):
    messages = tuple(
        Message(role, (TextPart(content),) if isinstance(content, str) else tuple(content), start + 60_000 * i)
        for i, content in enumerate(contents)
    )
    return AddRequest(request_id, user_id, session_id, messages)


def ask(user_id, *parts, top_k=100, options=()):
    return Query(user_id, tuple(TextPart(p) if isinstance(p, str) else p for p in parts), top_k, options)


def photo(name, package="skimage.data", size=None, box=None):
    with Image.open(files(package) / name) as image:
        shown = image.convert("RGB").crop(box)
    if size:
        shown = shown.resize(size)
    data = io.BytesIO()
    shown.save(data, "JPEG", quality=90)
    return ImagePart("data:image/jpeg;base64", data.getvalue())


def searching(service, **settings):
    """A search of the same memories with other settings."""
    search = service._search
    settings = Settings(**settings)
    questions = QuestionEncoder(settings, search._text, search._questions._image, search._questions._pictures)
    return Search(settings, service._store, search._text, questions, threads=search._threads)


def texts(hits):
    return [hit.memory.text.splitlines()[0] for hit in hits]


def test_the_memory_that_answers_comes_first(service, user):
    service.add(say("I adopted a cat called Miso.", "My flight to Lisbon is on Friday.", "The bike needs a new chain.",
                    "Dad turns seventy in March.", user_id=user))  # fmt: skip
    assert "Lisbon" in texts(service.search(ask(user, "When do I travel to Portugal?")))[0]
    assert "seventy" in texts(service.search(ask(user, "How old is my father going to be?")))[0]


def test_a_short_answer_is_found_by_what_it_answers_also_across_two_adds(service, user):
    service.add(say("Shall we meet at the harbour or at the station?", "I like trains.", user_id=user, request_id="a"))
    service.add(say("Which day suits you for the dentist?", user_id=user, request_id="b", role="assistant"))
    service.add(say("Thursday.", "Never mind.", user_id=user, request_id="c"))
    service.add(say("Monday.", user_id=user, request_id="d", session_id="another session"))
    found = texts(service.search(ask(user, "On what day is the dentist appointment?")))
    thursday, monday = (next(i for i, text in enumerate(found) if day in text) for day in ("Thursday", "Monday"))
    assert thursday < monday


def test_an_answer_is_found_for_what_was_asked_before_it(service, user):
    service.add(say("Ann: The vet said the cat is a bit fat.", "Ben: The cat sleeps all day.",
                    "Ann: What did the vet say about the cat's teeth?", "Ben: Two of them, and soon.",
                    "Ann: The roof is leaking again.", "Ben: I will call somebody.",
                    "Ann: The cat next door has a new collar.", "Ben: It rained all night.", user_id=user))  # fmt: skip
    question = ask(user, "What did the vet say about the teeth of the cat?")

    def first(search):
        return next(text for text in texts(search(question)) if "What did" not in text)

    assert "Two of them" in first(service.search)
    assert "Two of them" not in first(searching(service, answer_share=0, question_share=0, neighbour_share=0))


def test_who_is_asked_about_comes_before_who_is_not(service, user):
    service.add(say("Ann: My favourite season is autumn.", "Ben: My favourite season is spring.",
                    "Cleo: My favourite season is winter.", user_id=user))  # fmt: skip
    for name, season in (("Ann", "autumn"), ("Ben", "spring"), ("Cleo", "winter")):
        assert season in texts(service.search(ask(user, f"What is {name}'s favourite season?")))[0]


def test_a_name_that_no_model_knows_is_found_by_its_letters(service, user):
    service.add(
        say(*(f"The build failed with ERR_{n}X{n + 7} on the {n}th run." for n in range(100, 140)), user_id=user)
    )
    assert "ERR_117X124" in texts(service.search(ask(user, "what about ERR_117X124?")))[0]


def test_chinese_is_found_by_chinese(service, user):
    service.add(say("我上周在北京买了一辆自行车。", "妈妈的生日是三月五号。", "我们打算夏天去海边度假。",
                    "I love long walks.", user_id=user))  # fmt: skip
    assert "自行车" in texts(service.search(ask(user, "我在哪里买的自行车？")))[0]
    assert "生日" in texts(service.search(ask(user, "妈妈什么时候过生日")))[0]


def test_a_question_of_stop_words_is_answered(service, user):
    service.add(say("To be, or not to be, that is the question.", "Breakfast was fine.", user_id=user))
    assert "To be" in texts(service.search(ask(user, "to be or not to be")))[0]


def test_a_photo_is_found_by_words_by_a_copy_and_by_both(service, user):
    service.add(say([photo("coffee.png")], [TextPart("look at this!"), photo("chelsea.png")],
                    [photo("rocket.jpg"), TextPart("from our holiday")], "I ate an apple.", "The chain broke again.",
                    user_id=user))  # fmt: skip
    coffee, cat, rocket = (photo(name).data for name in ("coffee.png", "chelsea.png", "rocket.jpg"))

    def first(*parts):
        return [part.data for part in service.search(ask(user, *parts))[0].memory.parts if isinstance(part, ImagePart)]

    assert first("a picture of my cat") == [cat]
    assert first("the cup of espresso") == [coffee]
    assert first(photo("chelsea.png", size=(300, 200))) == [cat]
    assert first("where was this rocket?", photo("rocket.jpg", size=(320, 210))) == [rocket]


def test_a_text_question_is_not_flooded_by_pictures(service, user):
    names = ("coffee.png", "chelsea.png", "rocket.jpg", "motorcycle_left.png", "astronaut.png", "coins.png", "page.png")
    service.add(say(*([photo(name)] for name in names), "My flight to Lisbon is on Friday at nine.", user_id=user))
    assert "Lisbon" in texts(service.search(ask(user, "When does my plane leave?")))[0]


def test_options_help_to_find_the_evidence(service, user):
    service.add(
        say("We painted the kitchen.", "She plays the oboe in an orchestra.", "It rained all week.", user_id=user)
    )
    [hit] = service.search(ask(user, "Which is right?", options=("A. a violin", "B. an oboe"), top_k=1))
    assert "oboe" in hit.memory.text


def test_scores_never_rise_and_top_k_is_kept(service, user):
    service.add(say(*(f"Note {n}: the {n}th jar holds {n * 3} beans." for n in range(40)), user_id=user))
    for top_k in (1, 7, 40, 100):
        hits = service.search(ask(user, "How many beans are in the jar?", top_k=top_k))
        assert len(hits) == min(top_k, 40)
        assert all(a.score >= b.score for a, b in pairwise(hits))
        assert len({hit.memory.id for hit in hits}) == len(hits)


def test_the_same_question_gets_the_same_answer(service, user):
    service.add(say(*(f"Message {n % 5} about tea" for n in range(30)), user_id=user))  # many equal scores
    once, again = (service.search(ask(user, "tea")) for _ in range(2))
    assert once == again


def test_the_same_request_twice_or_at_once_is_kept_once(service, user):
    request = say("Only once, please.", user_id=user)
    callers = [threading.Thread(target=service.add, args=(request,)) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    service.add(request)
    assert len(service.search(ask(user, "once"))) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"session_id": "s2"},
        {"role": "assistant"},
        {"start": TIME + 1},
    ],
)
def test_another_body_under_the_same_request_id_is_refused_and_changes_nothing(service, user, other):
    service.add(say("The original.", user_id=user))
    before = service.search(ask(user, "original"))
    for changed in (say("The original.", user_id=user, **other), say("Another.", user_id=user)):
        with pytest.raises(RequestConflict):
            service.add(changed)
    assert service.search(ask(user, "original")) == before


def test_a_request_with_one_bad_image_is_not_kept_at_all(service, user):
    bad = ImagePart("data:image/jpeg;base64", photo("coffee.png").data[:2000])
    with pytest.raises(InvalidImage) as raised:
        service.add(say("first", [TextPart("second"), photo("coffee.png"), bad], user_id=user))
    assert raised.value.field == "messages.1.content.2.image_url.url"
    assert service.search(ask(user, "first")) == []
    service.add(say("first", [TextPart("second"), photo("coffee.png")], user_id=user))
    assert len(service.search(ask(user, "first"))) == 2


@pytest.mark.parametrize("where", ["add", "search"])
def test_a_request_has_a_limit_of_pixels_together(service, user, where, monkeypatch):
    tight = ImageReader(Settings(max_images_pixels=500_000))
    monkeypatch.setattr(service._ingest._pictures, "_reader", tight)
    monkeypatch.setattr(service._search._questions._pictures, "_reader", tight)
    two = (photo("coffee.png"), photo("coffee.png"))  # 600 x 400 each
    three = (*two, photo("coffee.png"))
    if where == "add":
        service.add(say(two, user_id=user))
        with pytest.raises(TooLarge) as raised:
            service.add(say(three, user_id=user, request_id="r2"))
    else:
        service.search(ask(user, *two))
        with pytest.raises(TooLarge) as raised:
            service.search(ask(user, *three))
    assert raised.value.field == ("messages.0.content.2.image_url.url" if where == "add" else "query.2.image_url.url")


def test_of_a_very_long_question_the_models_read_beginning_and_end_and_every_word_counts_for_bm25(service, user):
    long = "Where is the spare key? " + "walking home late, " * 9_000 + "zebra?"
    short, read = (
        service._search._questions.encode(ask(user, text), [], pictured=False).text
        for text in ("Where is the spare key? zebra?", long)
    )
    assert set(short.encoding.token_ids) <= set(read.encoding.token_ids)
    assert len(read.encoding.token_ids) < Settings().max_query_encoded_chars
    assert len(read.terms) > 27_000


def test_users_never_see_each_other(service, user):
    service.add(say("My secret is in the blue box.", user_id=user))
    for other in (user + " ", user.upper(), user + "\n", "", user + "'; --"):
        assert service.search(ask(other, "secret blue box")) == []


def test_a_long_message_is_found_by_any_of_its_pieces(service, user):
    filler = "The weather was mild and nothing much happened that day. "
    long = filler * 60 + "The spare key hangs behind the piano. " + filler * 60
    service.add(say(long, "Short one.", user_id=user))
    hit = service.search(ask(user, "Where is the spare key?"))[0]
    assert "behind the piano" in hit.memory.text
    pieces = sorted(
        (hit.memory for hit in service.search(ask(user, "weather", top_k=200)) if hit.memory.position == 0),
        key=lambda memory: memory.piece,
    )
    assert [memory.piece for memory in pieces] == list(range(len(pieces)))
    heading = "[2024-01-01 00:00] user: "
    own = [
        memory.text.removeprefix(heading).split("\n(before this)")[0].split("\n(after this)")[0] for memory in pieces
    ]
    assert "".join(own) == long


def test_text_that_is_not_well_formed_is_kept_as_it_is(service, user):
    odd = "null \x00 and lone \ud800 surrogate"
    service.add(say(odd, user_id=user))
    assert odd in service.search(ask(user, "lone surrogate \udfff"))[0].memory.text


def test_each_hit_says_which_channel_saw_it_where(service, user):
    service.add(
        say("I adopted a cat called Miso.", "The bike needs a new chain.", [photo("chelsea.png")], user_id=user)
    )
    assert service.search(ask(user, "Who is Miso?"))[0].explanation is None
    explained = service.explain(ask(user, "Who is Miso?"))[0].explanation
    assert explained.channels["maxsim"].rank == explained.channels["lexical"].rank == explained.fused.rank == 1
    assert explained.channels["lexical"].score > 0
    assert "text_to_image" not in explained.channels
    assert sum(said.added for said in explained.channels.values()) == pytest.approx(explained.fused.score)
    assert {("mis", "mis"), ("##o", "##o")} <= {(match.query, match.memory) for match in explained.tokens}


def test_a_picture_that_an_answer_has_no_room_for_leaves_a_note_and_room_for_smaller_ones(service, user):
    small, large = photo("coffee.png", size=(120, 80)), photo("coffee.png")
    contents = [[TextPart(f"picture {n} of a cup of coffee"), large if n == 0 else small] for n in range(4)]
    service.add(say(*contents, user_id=user))
    question = ask(user, "picture 0 of a cup of coffee")
    roomy = service.search(question)
    assert large in roomy[0].memory.parts
    first, *others = searching(service, response_max_bytes=len(large.data))(question)
    assert [hit.memory.id for hit in (first, *others)] == [hit.memory.id for hit in roomy]
    assert "no room for" in first.memory.text
    assert not any(isinstance(part, ImagePart) for part in first.memory.parts)
    assert others == roomy[1:]


def test_an_answer_has_no_more_pictures_than_may_be_and_those_of_the_best_ranks(service, user):
    small = photo("coffee.png", size=(120, 80))
    contents = [[TextPart(f"picture {n} of a cup of coffee"), *([small] * n)] for n in range(1, 5)]
    service.add(say(*contents, user_id=user))
    question = ask(user, "a cup of coffee")
    everything = service.search(question)
    for most in (0, 3, 5):
        left = most
        for hit, whole in zip(searching(service, max_images=most)(question), everything, strict=True):
            assert hit.memory.id == whole.memory.id
            pictures = sum(isinstance(part, ImagePart) for part in whole.memory.parts)
            shown = sum(isinstance(part, ImagePart) for part in hit.memory.parts)
            assert shown == min(pictures, left)
            assert hit.memory.text.count("no room for") == pictures - shown
            left -= shown


def test_an_album_of_more_pictures_than_an_answer_has_comes_with_its_first_ones_in_their_order(service, user):
    album = [photo("coffee.png", size=(120 - n, 80)) for n in range(5)]
    service.add(say([TextPart("an album of cups"), *album], user_id=user))
    (hit,) = searching(service, max_images=3)(ask(user, "album of cups"))
    _, *pictures = hit.memory.parts
    assert pictures[:3] == album[:3]
    assert ["no room for" in part.text for part in pictures[3:]] == [True, True]


def test_a_speaker_is_not_found_by_one_character_of_a_name(service, user):
    service.add(say("李雷：我明天去上海。", "李雨桐：我明天在家。", "王小明：我明天上班。", user_id=user))
    assert "李雷" in texts(service.search(ask(user, "李雷明天有什么安排？")))[0]


def test_a_question_at_the_end_of_a_long_turn_reaches_its_answer(service, user):
    long = "We talked about the garden and the neighbours for a while. " * 15 + "When is the dentist appointment?"
    service.add(say(long, "Thursday at four.", "Monday was fine.", "Saturday we rest.", user_id=user))
    assert "Thursday" in texts(service.search(ask(user, "dentist appointment day", top_k=2)))[-1]


def screenshot(*lines: str) -> ImagePart:
    image = Image.new("RGB", (640, 40 + 50 * len(lines)), "white")
    for place, line in enumerate(lines):
        ImageDraw.Draw(image).text((30, 30 + 50 * place), line, "black", ImageFont.load_default(24))
    data = io.BytesIO()
    image.save(data, "PNG")
    return ImagePart("data:image/png;base64", data.getvalue())


def test_a_screenshot_is_found_by_what_is_written_in_it(service, user):
    pages = [
        ("Dentist appointment", "Thursday at nine"),
        ("Flight LX 1482", "Gate B 36"),
        ("Paint for the fence", "38.90"),
    ]
    service.add(say(*([screenshot(*page)] for page in pages), "We talked about many things.", user_id=user))
    for question, place in (
        ("When is the dentist?", 0),
        ("Which gate does LX 1482 leave from?", 1),
        ("What did the paint cost?", 2),
    ):
        assert screenshot(*pages[place]) in service.search(ask(user, question))[0].memory.parts
    piece = service.search(ask(user, screenshot("Flight LX 1482")))[0]
    assert screenshot(*pages[1]) in piece.memory.parts, "also by a picture with the same words"


def test_a_picture_finds_its_altered_copy_and_the_turn_beside_it(service, user):
    told = (
        [photo("coffee.png")],
        "I drank this on our first morning in Turin.",
        "The bus was late.",
        [photo("rocket.jpg")],
    )
    service.add(say(*told, "Nothing else happened.", user_id=user))
    with Image.open(io.BytesIO(photo("coffee.png").data)) as image:
        turned = io.BytesIO()
        image.transpose(Image.Transpose.ROTATE_90).resize((150, 225)).save(turned, "PNG")
    hits = service.search(ask(user, ImagePart("data:image/png;base64", turned.getvalue())))
    assert photo("coffee.png") in hits[0].memory.parts
    assert "Turin" in texts(hits[:3])[1] or "Turin" in texts(hits[:3])[2]
