"""Times that people speak of, in questions and in what they tell."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmmem.dates import (
    MOST,
    MOST_EVENTS,
    NamedDate,
    event_windows,
    named_dates,
    question_windows,
)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("When did she go on 7 June 2023?", [(2023, 6, 7)]),
        ("the 3rd of August, 2023 and 5 Sep", [(2023, 8, 3), (2023, 9, 5)]),
        ("March 7th, 2022", [(2022, 3, 7)]),
        ("what happened last May", [(None, 5, None)]),
        ("Sept. of 2021", [(2021, 9, None)]),
        ("In 2023, what did I do in July?", [(2023, 7, None)]),
        ("between May 2022 and June 2023", [(2022, 5, None), (2023, 6, None)]),
        ("2023-06-07", [(2023, 6, 7)]),
        ("2023/06", [(2023, 6, None)]),
        ("6月7日我去了哪里", [(None, 6, 7)]),
        ("2023年五月", [(2023, 5, None)]),
        ("十二月", [(None, 12, None)]),
        ("since 2019", [(2019, None, None)]),
        ("you may march on", []),
        ("may 5", [(None, 5, 5)]),
        ("version 2.2023.1 of 20230607, call 2023456", []),
        ("2023-13-40", [(2023, None, None)]),  # no such day, but the year is named
        ("no date here", []),
        ("去年是2023年的五月三号", [(2023, 5, 3)]),
        ("2023 年 6 月 7 日", [(2023, 6, 7)]),
        ("２０２３年６月７日", [(2023, 6, 7)]),
        ("2023-06-07我去了", [(2023, 6, 7)]),
        ("logged at 2023-06-07T12:00:00", [(2023, 6, 7)]),
        ("我在May去的", [(None, 5, None)]),
        ("María Marín and Decán", []),
        ("ſeptember 5", []),  # a long s, which is no s
        ("this may be a problem", []),
        ("May I ask you something?", []),
        ("In May I went to Rome", [(None, 5, None)]),
        ("these 3 may have left", []),
    ],
)
def test_dates_are_read_as_people_mean_them(text, dates):
    assert named_dates(text) == [NamedDate(*date) for date in dates]


DAY = 86_400_000


def ms(*moment):
    return (datetime(*moment, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("date", "windows"),
    [
        ((2023, 6, 7), [(ms(2023, 6, 7), ms(2023, 6, 8))]),
        ((2024, 2, None), [(ms(2024, 2, 1), ms(2024, 3, 1))]),
        ((2023, None, None), [(ms(2023, 1, 1), ms(2024, 1, 1))]),
        ((None, 12, None), [(ms(2022, 12, 1), ms(2023, 1, 1)), (ms(2023, 12, 1), ms(2024, 1, 1))]),
        ((None, 2, 29), []),
        ((9999, 12, None), [(ms(9999, 12, 1), ms(9999, 12, 31) + DAY)]),
        ((10000, 1, 1), []),
        ((2023, 2, 31), []),
    ],
)
def test_a_date_is_a_window_in_each_year_in_which_it_exists(date, windows):
    assert NamedDate(*date).windows((2022, 2023)) == windows


def test_a_month_of_any_year_is_of_no_year_that_the_calendar_lacks():
    assert len(NamedDate(None, 5, None).windows((-1, 0, 1, 9999, 10**30))) == 2


def days(*spans):
    """Windows from "2023-05-01" for a day, or "2023-05-01 2023-05-31" for the days from one to the other."""
    dates = [[date.fromisoformat(day) for day in span.split()] for span in spans]
    return [(ms(*span[0].timetuple()[:3]), ms(*span[-1].timetuple()[:3]) + DAY) for span in dates]


WEDNESDAY = "2023-05-17"
RELATIVE_ENGLISH = [
    ("today", "2023-05-17"),
    ("what did I do yesterday?", "2023-05-16"),
    ("the day before yesterday", "2023-05-15"),
    ("Tonight we cook", "2023-05-17"),
    ("this morning", "2023-05-17"),
    ("tomorrow at 5", "2023-05-18"),
    ("last night", "2023-05-16"),
    ("last week", "2023-05-08 2023-05-14"),
    ("this week's plan", "2023-05-15 2023-05-21"),
    ("next week", "2023-05-22 2023-05-28"),
    ("last   weekend", "2023-05-13 2023-05-14"),
    ("this weekend", "2023-05-20 2023-05-21"),
    ("next weekend", "2023-05-27 2023-05-28"),
    ("last month", "2023-04-01 2023-04-30"),
    ("this month", "2023-05-01 2023-05-31"),
    ("next month", "2023-06-01 2023-06-30"),
    ("last year", "2022-01-01 2022-12-31"),
    ("this year", "2023-01-01 2023-12-31"),
    ("next year", "2024-01-01 2024-12-31"),
    ("last spring", "2022-03-01 2022-05-31"),
    ("last summer", "2022-06-01 2022-08-31"),
    ("this summer", "2023-06-01 2023-08-31"),
    ("next autumn", "2023-09-01 2023-11-30"),
    ("last fall", "2022-09-01 2022-11-30"),
    ("last winter", "2022-12-01 2023-02-28"),
    ("last Monday", "2023-05-15"),
    ("this past Friday", "2023-05-12"),
    ("last Wednesday", "2023-05-10"),
    ("this Friday", "2023-05-19"),
    ("next Monday", "2023-05-22"),
    ("next Wednesday", "2023-05-24"),
    ("on Sunday", "2023-05-14"),
    ("on Friday", "2023-05-19"),
    ("last May", "2022-05-01 2022-05-31"),
    ("last April", "2023-04-01 2023-04-30"),
    ("this May", "2023-05-01 2023-05-31"),
    ("next may", "2024-05-01 2024-05-31"),
    ("last May 5th", "2023-05-05"),
    ("next March 3", "2024-03-03"),
    ("last February 29", "2020-02-29"),
    ("in May last year", "2022-05-01 2022-05-31"),
    ("last year in May", "2022-05-01 2022-05-31"),
    ("5 May last year", "2022-05-05"),
    ("in May, two years ago", "2021-05-01 2021-05-31"),
    ("a day ago", "2023-05-16"),
    ("3 days ago", "2023-05-14"),
    ("two weeks ago", "2023-04-30 2023-05-06"),
    ("a month ago", "2023-04-02 2023-05-02"),
    ("2 years ago", "2021-01-01 2021-12-31"),
    ("half a year ago", "2022-11-02 2022-12-02"),
    ("a couple of days ago", "2023-05-14 2023-05-15"),
    ("a few weeks ago", "2023-04-02 2023-05-06"),
    ("several months ago", "2022-11-02 2023-04-01"),
    ("a few years ago", "2017-01-01 2021-12-31"),
    ("in the last 3 days", "2023-05-14 2023-05-17"),
    ("over the past two weeks", "2023-05-03 2023-05-17"),
    ("in the past month", "2023-04-17 2023-05-17"),
    ("the last few days", "2023-05-11 2023-05-17"),
    ("in the past year", "2022-05-17 2023-05-17"),
]
RELATIVE_CHINESE = [
    ("今天", "2023-05-17"),
    ("我昨天去了哪里", "2023-05-16"),
    ("前天", "2023-05-15"),
    ("大前天", "2023-05-14"),
    ("明天", "2023-05-18"),
    ("后天", "2023-05-19"),
    ("昨晚", "2023-05-16"),
    ("上周", "2023-05-08 2023-05-14"),
    ("上星期", "2023-05-08 2023-05-14"),
    ("上个星期", "2023-05-08 2023-05-14"),
    ("上上周", "2023-05-01 2023-05-07"),
    ("这周", "2023-05-15 2023-05-21"),
    ("本周", "2023-05-15 2023-05-21"),
    ("下周", "2023-05-22 2023-05-28"),
    ("上周末", "2023-05-13 2023-05-14"),
    ("上周三", "2023-05-10"),
    ("下星期天", "2023-05-28"),
    ("星期三", "2023-05-17"),
    ("周日我们去爬山了", "2023-05-14"),
    ("上周一直下雨", "2023-05-08 2023-05-14"),
    ("上周三次会议", "2023-05-08 2023-05-14"),
    ("上个月", "2023-04-01 2023-04-30"),
    ("上月", "2023-04-01 2023-04-30"),
    ("这个月", "2023-05-01 2023-05-31"),
    ("本月", "2023-05-01 2023-05-31"),
    ("下个月", "2023-06-01 2023-06-30"),
    ("上个月5号", "2023-04-05"),
    ("下个月十五日", "2023-06-15"),
    ("去年", "2022-01-01 2022-12-31"),
    ("前年", "2021-01-01 2021-12-31"),
    ("今年", "2023-01-01 2023-12-31"),
    ("明年", "2024-01-01 2024-12-31"),
    ("去年五月", "2022-05-01 2022-05-31"),
    ("去年的五月三号", "2022-05-03"),
    ("今年3月", "2023-03-01 2023-03-31"),
    ("两年前的五月", "2021-05-01 2021-05-31"),
    ("去年夏天", "2022-06-01 2022-08-31"),
    ("上个冬天", "2022-12-01 2023-02-28"),
    ("两周前", "2023-04-30 2023-05-06"),
    ("2周前", "2023-04-30 2023-05-06"),
    ("三天前", "2023-05-14"),
    ("十二天前", "2023-05-05"),
    ("二十三天之前", "2023-04-24"),
    ("一个月前", "2023-04-02 2023-05-02"),
    ("两年前", "2021-01-01 2021-12-31"),
    ("几天前", "2023-05-11 2023-05-15"),
    ("前几天", "2023-05-11 2023-05-15"),
    ("半年前", "2022-11-02 2022-12-02"),
    ("半个月前", "2023-04-30 2023-05-06"),
    ("几年以前", "2017-01-01 2021-12-31"),
    ("最近三天", "2023-05-14 2023-05-17"),
    ("过去两周", "2023-05-03 2023-05-17"),
    ("近几天", "2023-05-11 2023-05-17"),
    ("过去半年", "2022-11-17 2023-05-17"),
]


@pytest.mark.parametrize(("text", "window"), RELATIVE_ENGLISH + RELATIVE_CHINESE)
def test_a_relative_time_is_told_from_the_present(text, window):
    now = ms(2023, 5, 17, 15, 30)
    assert question_windows(text, now, (2020, 2023)) == days(window)
    assert event_windows(text, now) == days(window)


@pytest.mark.parametrize(
    ("text", "now", "window"),
    [
        ("last month", "2023-01-31", "2022-12-01 2022-12-31"),
        ("a month ago", "2023-03-31", "2023-02-13 2023-03-15"),  # around 28 February
        ("last May", "2023-06-01", "2023-05-01 2023-05-31"),
        ("last May", "2023-05-31", "2022-05-01 2022-05-31"),  # this one is not over
        ("last weekend", "2023-05-21", "2023-05-13 2023-05-14"),  # on a Sunday: not the one of today
        ("last week", "2023-01-01", "2022-12-19 2022-12-25"),
        ("last Sunday", "2023-05-21", "2023-05-14"),
        ("this winter", "2023-01-10", "2022-12-01 2023-02-28"),
        ("last winter", "2023-01-10", "2021-12-01 2022-02-28"),
        ("this summer", "2023-01-10", "2023-06-01 2023-08-31"),
        ("yesterday", "2024-03-01", "2024-02-29"),
        ("yesterday", "1969-12-31", "1969-12-30"),
        ("上周日", "2023-05-21", "2023-05-14"),
        ("周五", "2023-05-21", "2023-05-19"),
    ],
)
def test_the_present_may_be_any_day(text, now, window):
    assert question_windows(text, days(now)[0][0], ()) == days(window)


@pytest.mark.parametrize(
    "text",
    [
        "may the best one win", "this may take a while", "the last one", "what happened last", "next, please", "the second",
        "I march on", "they fall over", "a spring roll", "the last spring roll", "the last page of the book", "battery life",
        "it can last two days", "3.5 days ago", "two weeks later", "yesterdays", "our past", "weekends", "a day", "Monday",
        "一下", "一周三次", "每周三", "马上周末了", "目前天气不错", "今后天气", "如今天下", "登上月球", "晚上月亮", "以前", "从前", "第三天前",
        "周围", "今年轻人", "过去年代", "两个半月前", "一百二十天前", "日本周刊", "说了半天", "一个月", "三天",
    ],
)  # fmt: skip
def test_words_that_tell_no_time_are_left_alone(text):
    assert question_windows(text, days(WEDNESDAY)[0][0], ()) == []
    assert event_windows(text, days(WEDNESDAY)[0][0]) == []


def test_a_question_may_name_several_times():
    text = "What did I do on 7 June 2021, in March and last Monday?"
    expected = days("2023-05-15", "2021-06-07", "2021-03-01 2021-03-31")  # March takes the only year that is named
    assert question_windows(text, ms(2023, 5, 17), (2022, 2023)) == expected
    assert question_windows("去年五月到今年三月", ms(2023, 5, 17), ()) == days(
        "2022-05-01 2022-05-31", "2023-03-01 2023-03-31"
    )


def test_last_may_is_one_may_when_the_present_is_known_and_any_may_else():
    years = (2021, 2022, 2023)
    assert question_windows("last May", ms(2023, 9, 1), years) == days("2023-05-01 2023-05-31")
    assert len(question_windows("last May", None, years)) == 3
    assert question_windows("last May 2021", ms(2023, 9, 1), years) == days("2021-05-01 2021-05-31")


def test_a_question_without_the_present_has_no_relative_times():
    assert question_windows("yesterday, 两周前, last week", None, (2023,)) == []


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("I went to the group yesterday", ["2023-01-09"]),
        ("We met in December", ["2022-12-01 2022-12-31"]),  # the one that is nearest to the telling
        ("We marry in March", ["2023-03-01 2023-03-31"]),
        ("my birthday is 5 January", ["2023-01-05"]),
        ("last December it snowed", ["2022-12-01 2022-12-31"]),
        ("last March it snowed", ["2022-03-01 2022-03-31"]),
        ("we saw it on 7 June 2021", ["2021-06-07"]),
        ("see you tomorrow at 5", ["2023-01-11"]),
        ("born on 29 February", ["2024-02-29"]),
        ("两周前我们去了北京，上周五回来", ["2022-12-24 2022-12-30", "2023-01-06"]),
        ("yesterday, and yesterday again", ["2023-01-09"]),
        ("I like the garden", []),
    ],
)
def test_a_memory_speaks_of_times_near_its_telling(text, windows):
    assert event_windows(text, ms(2023, 1, 10, 9)) == days(*windows)


def test_a_memory_full_of_dates_keeps_a_few():
    assert len(event_windows(", ".join(f"{day} May 2021" for day in range(1, 32)), 0)) == MOST_EVENTS
    assert len(question_windows("in May and June and July", 0, range(1, 9999))) == MOST


MAY_2023 = ms(2023, 5, 17, 15, 30)  # a Wednesday
CALENDAR = [
    ("between May and July (2022)", "2022-05-01 2022-07-31"),
    ("between May and July 2022", "2022-05-01 2022-07-31"),
    ("In 2022, what did I do between May and July?", "2022-05-01 2022-07-31"),
    ("between November and February 2023", "2022-11-01 2023-02-28"),
    ("from May 2022 until June 2023", "2022-05-01 2023-06-30"),
    ("between 2020 and 2022", "2020-01-01 2022-12-31"),
    ("2020-2022", "2020-01-01 2022-12-31"),
    ("from 3 to 9 June 2022", "2022-06-03 2022-06-09"),
    ("between the 3rd and the 9th of June 2022", "2022-06-03 2022-06-09"),
    ("June 3-9, 2022", "2022-06-03 2022-06-09"),
    ("from 3 June to 2 July 2022", "2022-06-03 2022-07-02"),
    ("between yesterday and tomorrow", "2023-05-16 2023-05-18"),
    ("2022年5月到7月", "2022-05-01 2022-07-31"),
    ("去年5月到7月", "2022-05-01 2022-07-31"),
    ("2022年6月3日至9日", "2022-06-03 2022-06-09"),
    ("2020年到2022年", "2020-01-01 2022-12-31"),
    ("two weeks before August 11, 2022", "2022-07-25 2022-07-31"),
    ("the day after Christmas 2022", "2022-12-26"),
    ("2022年8月11日前两周", "2022-07-25 2022-07-31"),
    ("18/6/2023", "2023-06-18"),
    ("6/18/2023", "2023-06-18"),
    ("6/6/2023", "2023-06-06"),
    ("5.6.2022", "2022-06-05"),
    ("18.06.2023", "2023-06-18"),
    ("18-06-2023", "2023-06-18"),
    ("the summer of 2022", "2022-06-01 2022-08-31"),
    ("Spring 2022", "2022-03-01 2022-05-31"),
    ("winter 2021", "2021-12-01 2022-02-28"),
    ("2022年夏天", "2022-06-01 2022-08-31"),
    ("2022年的冬天", "2022-12-01 2023-02-28"),
    ("early 2022", "2022-01-01 2022-04-30"),
    ("mid-2022", "2022-05-01 2022-08-31"),
    ("at the end of 2022", "2022-09-01 2022-12-31"),
    ("the second half of 2022", "2022-07-01 2022-12-31"),
    ("2022年初", "2022-01-01 2022-04-30"),
    ("去年底", "2022-09-01 2022-12-31"),
    ("今年上半年", "2023-01-01 2023-06-30"),
    ("2022年下半年", "2022-07-01 2022-12-31"),
    ("Q2 2022", "2022-04-01 2022-06-30"),
    ("2022年第二季度", "2022-04-01 2022-06-30"),
    ("I went there on the 7th.", "2023-05-07"),
    ("on the 31st we met", "2023-03-31"),
    ("7号我去了北京", "2023-05-07"),
    ("over the weekend", "2023-05-13 2023-05-14"),
    ("周末我们去爬山", "2023-05-13 2023-05-14"),
    ("two Fridays ago", "2023-05-05"),
    ("a fortnight ago", "2023-04-30 2023-05-06"),
    ("last Christmas", "2022-12-25"),
    ("Christmas (2021)", "2021-12-25"),
    ("New Year’s Eve 2021", "2021-12-31"),
    ("New Year's Day 2022", "2022-01-01"),
    ("Halloween of 2022", "2022-10-31"),
    ("Valentine's Day, 2022", "2022-02-14"),
    ("去年国庆节", "2022-10-01 2022-10-07"),
    ("2022年元旦", "2022-01-01"),
    ("2021年的圣诞节", "2021-12-25"),
    ("先週", "2023-05-08 2023-05-14"),
    ("先週の金曜日に会った", "2023-05-12"),
    ("今週", "2023-05-15 2023-05-21"),
    ("来週", "2023-05-22 2023-05-28"),
    ("先月", "2023-04-01 2023-04-30"),
    ("今月", "2023-05-01 2023-05-31"),
    ("来月", "2023-06-01 2023-06-30"),
    ("昨日", "2023-05-16"),
    ("一昨日", "2023-05-15"),
    ("今日", "2023-05-17"),
    ("明日", "2023-05-18"),
    ("来年", "2024-01-01 2024-12-31"),
    ("三日前", "2023-05-14"),
    ("二週間前", "2023-04-30 2023-05-06"),
    ("去年の夏", "2022-06-01 2022-08-31"),
]


@pytest.mark.parametrize(("text", "window"), CALENDAR)
def test_ranges_parts_of_years_and_feasts_are_one_window(text, window):
    assert question_windows(text, MAY_2023, (2020, 2023)) == days(window)
    assert event_windows(text, MAY_2023) == days(window)


@pytest.mark.parametrize(
    ("text", "asked", "told"),
    [
        ("from May to July", ["2022-05-01 2022-07-31", "2023-05-01 2023-07-31"], ["2023-05-01 2023-07-31"]),
        ("5到7月", ["2022-05-01 2022-07-31", "2023-05-01 2023-07-31"], ["2023-05-01 2023-07-31"]),
        ("3-9 June", ["2022-06-03 2022-06-09", "2023-06-03 2023-06-09"], ["2023-06-03 2023-06-09"]),
        (
            "from November to February",
            ["2021-11-01 2022-02-28", "2022-11-01 2023-02-28", "2023-11-01 2024-02-29"],
            ["2022-11-01 2023-02-28"],
        ),
        ("5/6/2022", ["2022-06-05", "2022-05-06"], ["2022-06-05", "2022-05-06"]),  # either may be meant
        ("Christmas", ["2022-12-25", "2023-12-25"], ["2022-12-25"]),
        ("国庆节", ["2022-10-01 2022-10-07", "2023-10-01 2023-10-07"], ["2023-10-01 2023-10-07"]),
        ("第二季度", ["2022-04-01 2022-06-30", "2023-04-01 2023-06-30"], ["2023-04-01 2023-06-30"]),
        ("年底", ["2022-09-01 2022-12-31", "2023-09-01 2023-12-31"], ["2023-09-01 2023-12-31"]),
    ],
)
def test_a_question_may_mean_any_year_and_a_memory_the_nearest(text, asked, told):
    assert question_windows(text, MAY_2023, (2022, 2023)) == days(*asked)
    assert event_windows(text, MAY_2023) == days(*told)


@pytest.mark.parametrize(
    ("text", "asked", "told"),
    [
        ("since March", "2023-03-01 2023-05-17", ["2023-03-01 2023-03-31"]),
        ("since June", "2022-06-01 2023-05-17", ["2023-06-01 2023-06-30"]),  # this June has not begun
        ("after October 2022", "2022-11-01 2023-05-17", []),
        ("before March", "1970-01-01 2023-02-28", []),
        ("until June 2022", "1970-01-01 2022-06-30", ["2022-06-01 2022-06-30"]),
        ("from March on", "2023-03-01 2023-05-17", ["2023-03-01 2023-03-31"]),
        ("since the summer of 2022", "2022-06-01 2023-05-17", ["2022-06-01 2022-08-31"]),
        ("since yesterday", "2023-05-16 2023-05-17", ["2023-05-16"]),
        ("before Christmas 2022", "1970-01-01 2022-12-24", []),
        ("3月以来", "2023-03-01 2023-05-17", ["2023-03-01 2023-03-31"]),
        ("3月以后", "2023-04-01 2023-05-17", []),
        ("3月之后", "2023-04-01 2023-05-17", []),
        ("2023年之前", "1970-01-01 2022-12-31", []),
        ("从2022年起", "2022-01-01 2023-05-17", ["2022-01-01 2022-12-31"]),
    ],
)
def test_a_question_reaches_to_the_first_or_the_last_memory(text, asked, told):
    assert question_windows(text, MAY_2023, (2022, 2023)) == days(asked)
    assert event_windows(text, MAY_2023) == days(*told)


def test_an_open_end_needs_the_present():
    assert question_windows("since March", None, (2022,)) == days("2022-03-01 2022-03-31")


@pytest.mark.parametrize(
    "text",
    [
        "before long", "since you ask", "after all", "between us", "from A to B", "the 7th floor", "on the 7th floor",
        "version 18.06.2023.1", "10.0.0.1", "3/4 cup", "1/2", "18/6/23", "at 12:30", "from 9 to 5",
        "the weekend", "Q2", "early", "summer", "the first half of the game", "a Christmas tree", "Halloween costumes",
        "每个周末", "周末愉快", "底薪", "7号楼", "3号线", "之前", "以后", "先生", "首先月", "从来日本", "毎週", "圣诞树",
    ],
)  # fmt: skip
def test_words_beside_a_date_are_no_date(text):
    assert question_windows(text, MAY_2023, (2022, 2023)) == []
    assert event_windows(text, MAY_2023) == []


def test_what_only_looks_like_a_longer_time_is_the_shorter():
    assert event_windows("June 3 to 9 people", MAY_2023) == days("2023-06-03")
    assert event_windows("I read 3-4 books in May", MAY_2023) == days("2023-05-01 2023-05-31")
    assert event_windows("2022年初中毕业", MAY_2023) == days("2022-01-01 2022-12-31")
    assert event_windows("2022年春节", MAY_2023) == days("2022-01-01 2022-12-31")
    assert event_windows("in June 2022 or from 2021 to 2020", MAY_2023) == days(
        "2022-06-01 2022-06-30", "2021-01-01 2021-12-31", "2020-01-01 2020-12-31"
    )


def test_a_text_with_marks_of_its_own_is_read_like_any_other():
    assert event_windows("since \ue000, \uec00 summer, yesterday", MAY_2023) == days("2023-05-16")


PHRASES = [phrase for phrase, _ in RELATIVE_ENGLISH + RELATIVE_CHINESE + CALENDAR]
PIECES = st.sampled_from(
    [
        *PHRASES,
        "0",
        "999",
        "一",
        "十",
        "半",
        "last ",
        "this ",
        "年",
        "月",
        "前",
        "31 February",
        "\u3000",
        "|",
        "ſ",
        "İ",
        "since ",
        " to ",
        "之前",
        "\ue000",
    ]
)
TEXTS = st.text() | st.lists(PIECES | st.text(max_size=3), max_size=8).map("".join)
MOMENTS = st.integers() | st.integers(ms(1, 1, 1), ms(1, 12, 31)) | st.integers(ms(9999, 1, 1), ms(9999, 12, 31))


@given(text=TEXTS, now=MOMENTS, years=st.lists(st.integers(), max_size=3))
def test_any_text_at_any_time_is_read_without_fault(text, now, years):
    for windows in (
        question_windows(text, now, years),
        question_windows(text, None, years),
        event_windows(text, now),
    ):
        assert all(start < end for start, end in windows)
        assert len(set(windows)) == len(windows) <= MOST


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        " ",
        "last last last ",
        "一",
        "may 5 ",
        "the day before ",
        "a couple of ",
        "去年",
        "2023-",
        "5月到",
        "since the ",
        "1/1/",
        "christmas ",
        "夏",
    ],
)
def test_a_long_hostile_text_is_read_in_one_go(piece):
    """Ends at all: of a pattern that looks back over what it has seen, 100,000 characters would take many minutes."""
    event_windows("yesterday 昨天" + piece * (100_000 // len(piece)), 0)
