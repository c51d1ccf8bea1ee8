"""Everyday talk, made up: what is in a memory beside the pictures and what is asked for. The same for the same seed."""

from __future__ import annotations

import random
import re

# Said once each. They are about what the pictures show, without being about the pictures.
NEAR = (
    "The cat has knocked the coffee off the table again.", "A rocket launch was on television while we cooked.",
    "Astronauts must be able to sleep anywhere, I read.", "The moon was so bright that we needed no lamp.",
    "I would rather ride a horse than a motorcycle.", "The neighbours built a brick wall along the fence.",
    "Our grass is yellow, it has not rained for weeks.", "A lorry brought gravel to the wrong house.",
    "My coins fell through a hole in my pocket.", "He takes pictures with an old camera and a tripod.",
    "The eye doctor put drops in my eyes.", "We had flowers on every table, orange ones.",
    "There is a Chinese restaurant by the lake now.", "A temple should be visited early in the morning.",
    "Galaxies make me feel small, stars do not.", "The microscope at school has a broken lens.",
    "I played chess against the computer and lost.", "The clock was right twice today.",
    "Her handwriting is impossible to read.", "The logo should be round, they said.",
    "He painted the garage red, like his motorbike.", "My cat sleeps on the laundry, as cats do.",
    "The photographer sent far too many pictures.", "Do not photograph the horse from behind.",
    "Space is mostly empty, like our fridge.", "I drink my espresso without a spoon of anything.",
    "The receipts are in the shoe box.", "My screen is full of screenshots.",
    "An error message is not an explanation.", "The slides were fine, the talk was too long.",
    "The taxi driver sang all the way.", "The build was green when I left.",
    "The table for the holidays is a mess.", "The form asked for my mother's maiden name.",
    "The chat group is silent since the summer.", "A terminal is all I need, says my brother.",
)  # fmt: skip
TEMPLATES = (
    "{name} and I went to {place} on {day}, and it {weather}.", "Have you heard that {name} is learning {skill}?",
    "I promised {name} to bring {food} for the {event}.", "We need {thing} before the {event}, I will ask {name}.",
    "{name} moved to {place} because of {reason}.", "The {event} in {place} was {quality}, and {name} made {food}.",
    "I lost {thing} in {place}; somebody called {name} found it.", "On {day} I have {skill} with {name}, don't let me forget.",
    "My {relative} loves {food}, but only from {place}.", "{name} thinks {skill} is {quality}.",
    "It {weather} all of {day}, so we stayed in and had {food}.", "My {relative} gave {name} {thing} for the {event}.",
    "Could you remind me on {day} to look for {thing}?", "{name} is angry about {reason} and skips the {event}.",
    "We are saving for {thing}, {number} euros so far.", "My {relative} wants to visit {place} in {month}.",
    "There were {number} people at the {event}, {name} counted.", "I have practised {skill} for {number} minutes today.",
    "{name} sold {thing} and bought a ticket to {place}.", "In {month} we drive to {place}, with {thing} on the roof.",
    "The {quality} part of {place} is the market; my {relative} buys {food} there.", "Why would {name} need {thing} for {skill}?",
    "I dreamt of {place}, my {relative} and {food}.", "{name} says that {reason} is no excuse.",
    "Since {month} my {relative} has been into {skill}.", "Let us meet at the {event} on {day}, {name} comes too.",
    "Good idea. Then {name} can bring {food}.", "That sounds {quality}; how long did {name} stay in {place}?",
    "Noted: {event} on {day}, with {name}.", "I see. Was it because of {reason}?",
    "Happy to hear that your {relative} likes {skill}.", "Then {number} euros should be enough for {thing}.",
)  # fmt: skip
LISTS = {
    "name": "Amira, Bao, Carla, Dmitri, Elif, Femi, Greta, Hugo, Imani, Jonas, Kofi, Lena, Mateo, Nadia, Oskar, Priya, Ravi",
    "place": "Lisbon, Oslo, Kyoto, Quito, Ghent, Tbilisi, Leeds, Accra, Turin, Malmo, the harbour, the old town, the valley",
    "day": "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday",
    "month": "January, February, March, April, May, June, July, August, September, October, November, December",
    "weather": "rained, snowed, was foggy, was far too hot, was windy, stayed grey, cleared up late",
    "skill": "knitting, sailing, the cello, pottery, judo, bookbinding, salsa, archery, carpentry, Finnish, baking, juggling",
    "food": "dumplings, rhubarb cake, lentil soup, pancakes, olives, a quiche, fig jam, noodles, cheese scones, rice pudding",
    "event": "wedding, street party, school fair, reunion, picnic, flea market, concert, farewell, house-warming, regatta",
    "thing": "the tent, a ladder, my scarf, the sewing machine, a pram, the drill, two suitcases, the kayak, a lamp, the sledge",
    "reason": "the noise, a new job, the rent, love, the traffic, her knee, the schools, a quarrel, the damp, the view",
    "quality": "lovely, overrated, chaotic, quiet, surprising, charming, exhausting, brilliant, dull, worthwhile",
    "relative": "sister, uncle, grandmother, cousin, brother-in-law, nephew, father, aunt, niece, godmother",
}  # fmt: skip


def talk(count: int, seed: int) -> list[str]:
    """So many turns, no two the same."""
    pick = random.Random(seed)

    def drawn(field: re.Match[str]) -> str:
        return str(pick.randint(3, 180)) if field[1] == "number" else pick.choice(LISTS[field[1]].split(", "))

    said = dict.fromkeys(NEAR[:count])
    while len(said) < count:
        said[re.sub(r"{(\w+)}", drawn, pick.choice(TEMPLATES))] = None
    return list(said)
