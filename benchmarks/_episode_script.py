"""The 30 calls of the episode that prefix_cache.py replays, and the thoughts before them.

``@NUMBER`` is the photo of that number in the album, ``@NUMBER.c1`` its first crop. Two calls
bring nothing new on purpose, as in real episodes. Data only.
"""

from __future__ import annotations

from typing import Any

QUESTION = (
    "On my trips abroad, which photos show something that one can ride on or in (bus, train, "
    "motorbike, boat, bicycle or horse) and were taken on a day on which I also photographed food "
    "or a laid table? Leave out the days of arrival, and tell me what the front of the bus in "
    "Florence says."
)
ABROAD = 'has_place and country != "Portugal"'
RIDES = ["bus", "train", "motorcycle", "boat", "bicycle", "horse"]
FOOD = ["pizza", "cake", "sandwich", "donut", "banana", "dining table", "wine glass"]

SCRIPT: list[tuple[str, str, dict[str, Any]]] = [
    (
        "The question has four conditions: a trip abroad, something to ride on, food on the same "
        "day, no day of arrival. I begin with the place, since that is exact, and look at which "
        "countries and days there are.",
        "filter_photos",
        {"where": ABROAD, "facts": True, "save_as": "abroad"},
    ),
    (
        "Four trips outside of Portugal. I list their events, so that I know which day was the "
        "day of arrival of each.",
        "list_events",
        {"within": "abroad"},
    ),
    (
        "Arrivals: Pisa on 10 June 2021, Tokyo on 2 April 2022, Edinburgh on 10 September 2022, "
        "New York on 1 July 2023. I save these days, to leave them out later.",
        "filter_photos",
        {
            "where": 'date in ("2021-06-10", "2022-04-02", "2022-09-10", "2023-07-01")',
            "within": "abroad",
            "save_as": "arrivals",
        },
    ),
    (
        "Now the days that remain, as a set of their own.",
        "combine_sets",
        {"op": "minus", "sets": ["abroad", "arrivals"], "save_as": "later_days"},
    ),
    (
        "First what can be ridden on. The cut-off decides what is in the set; I look at the "
        "doubtful ones with my own eyes afterwards.",
        "search_photos",
        {"any_text": RIDES, "within": "later_days", "exact": True, "save_as": "rides"},
    ),
    (
        "Then food and laid tables, over the same days.",
        "search_photos",
        {"any_text": FOOD, "within": "later_days", "exact": True, "save_as": "food"},
    ),
    (
        "Which photos to ride on lie on a day with food? The same calendar day is what is asked.",
        "around",
        {"set": "food", "unit": "day", "within": "rides", "include_given": True, "save_as": "both"},
    ),
    (
        "I look at the candidates from Florence on 11 June 2021 before I trust the scores; a "
        "parked bicycle counts, a picture of one does not.",
        "view_photos",
        {"photos": ["@11149", "@303818", "@183709", "@234748"], "layout": "separate"},
    ),
    (
        "The bus is in the fourth photo of that day. Its front must be read for the second part of "
        "the question, so I fetch it larger.",
        "fetch_image",
        {"uid": "@303818", "detail": "high"},
    ),
    (
        "The board above the windscreen is too small to read at this size. I cut it out.",
        "zoom_in",
        {"uid": "@303818", "x": 100, "y": 180, "width": 220, "height": 160},
    ),
    (
        "Still small. The upper half of the crop is where the letters are.",
        "zoom_in",
        {"uid": "@303818.c1", "x": 20, "y": 10, "width": 140, "height": 70},
    ),
    (
        "Is this the only bus of that trip? I search for buses in all of Tuscany, not only on the "
        "later days, to be sure which one is meant.",
        "search_photos",
        {"text": "bus", "where": 'region == "Tuscany"'},
    ),
    (
        "Only one in Florence. Now the food of 11 June: pizza at noon and in the evening. I look "
        "at these, since the whole day depends on them.",
        "view_photos",
        {"photos": ["@450", "@121647", "@160012"], "layout": "separate"},
    ),
    (
        "Pizza on all three: 11 June counts. For the day in the Chianti there was a cake on a "
        "table; does the horse belong to the same day? I read times and places.",
        "get_metadata",
        {"photos": ["@78499", "@127", "@308", "@500663", "@7281", "@214753", "@159269"]},
    ),
    (
        "Horse and cake are both of 12 June. I look at the photos of that day and of the beach "
        "on the day after.",
        "view_photos",
        {"photos": ["@78499", "@127", "@308", "@7281", "@214753", "@159269"]},
    ),
    (
        "On the beach, is the boat real and is there food on the table under the umbrella? The "
        "picture was too small to say.",
        "fetch_image",
        {"uid": "@159269", "detail": "high"},
    ),
    (
        "The table is what decides over the horses of 13 June. I look at it closely.",
        "zoom_in",
        {"uid": "@159269", "x": 40, "y": 300, "width": 300, "height": 260},
    ),
    (
        "A laid table, so the horses and the boat of 13 June are in. Next Japan without its "
        "first day: what is there to ride on, and what to eat?",
        "search_photos",
        {
            "any_text": RIDES,
            "where": 'country == "Japan"',
            "within": "later_days",
            "save_as": "rides_japan",
        },
    ),
    (
        "The train in Kyoto and a boat on the river, both on 5 April. Was there food on that day?",
        "search_photos",
        {"any_text": FOOD, "when": "5 April 2022", "within": "later_days"},
    ),
    (
        "The photo of the kitchen might be a laid table. I look at it beside the train and the "
        "boat.",
        "view_photos",
        {"photos": ["@565778", "@1268", "@174632", "@442450"], "layout": "separate"},
    ),
    (
        "The table of 5 April has bottles and no meal, but it is laid with things for one; the "
        "question says laid table. I look closer before I decide.",
        "fetch_image",
        {"uid": "@174632", "detail": "high"},
    ),
    (
        "A table with vases and books in a room: not laid for a meal, so Kyoto falls out. Did I "
        "miss food of that day which the search did not see? I ask for all photos of the day.",
        "around",
        {"photos": ["@565778"], "unit": "day", "include_given": True, "save_as": "kyoto_day"},
    ),
    (
        "No food among them. Now Scotland: the Highlands on 12 September have motorbike, boats "
        "and a bicycle, but is there food?",
        "filter_photos",
        {
            "when": "12 September 2022",
            "within": "later_days",
            "facts": True,
            "save_as": "highlands",
        },
    ),
    (
        "Four photos, I look at all of them at once.",
        "view_photos",
        {"photos": ["@165518", "@205401", "@107438", "@126107"], "layout": "separate"},
    ),
    (
        "No food anywhere on 12 September, so Scotland falls out. New York: 4 July 2023 has a "
        "pizza and a bicycle.",
        "search_photos",
        {
            "any_text": [*RIDES, "car", "truck"],
            "when": "4 July 2023",
            "within": "later_days",
            "save_as": "july",
        },
    ),
    (
        "The bicycle stands at a stop sign; pizza at two o'clock. Cars and trucks were not asked "
        "for. I look at both photos and at the crossing.",
        "view_photos",
        {"photos": ["@231460", "@194", "@460229", "@8762"], "layout": "separate"},
    ),
    (
        "Is it a bicycle or only a part of one? I cut it out.",
        "zoom_in",
        {"uid": "@231460", "x": 180, "y": 150, "width": 240, "height": 220},
    ),
    (
        "A bicycle. I put the wrong ones aside: Kyoto and the Highlands have no food.",
        "combine_sets",
        {"op": "minus", "sets": ["both", "kyoto_day", "highlands"], "save_as": "kept"},
    ),
    (
        "Before I answer I read the plain facts of what is left once more, so that no day of "
        "arrival slipped in.",
        "get_metadata",
        {
            "photos": ["@11149", "@303818", "@78499", "@7281", "@214753", "@159269", "@231460"],
            "fields": ["time", "place", "event"],
        },
    ),
    (
        "All of them are on later days with food. I answer with these seven, and say what could be "
        "read on the bus.",
        "submit_answer",
        {
            "photos": ["@11149", "@303818", "@78499", "@7281", "@214753", "@159269", "@231460"],
            "text": "The board of the bus in Florence cannot be read for certain.",
            "evidence": [
                {"constraint": "trips abroad", "where": ABROAD},
                {
                    "constraint": "something that one can ride on or in",
                    "seen": "a bicycle, a bus, three horses, a boat, a bicycle",
                },
                {
                    "constraint": "a day with food or a laid table",
                    "relation": {"set": "food", "unit": "day"},
                    "anchors": ["@450", "@127", "@159269", "@194"],
                },
                {"constraint": "not the day of arrival", "not_in_sets": ["arrivals"]},
            ],
        },
    ),
]

# What the model writes when it is asked for a summary after at least so many steps.
PROSE: list[tuple[int, dict[str, str]]] = [
    (
        0,
        {
            "decisions": "Narrow by place first, then by day, then by looks; named sets hold what "
            "was found. The same calendar day is what links rides and food.",
            "ruled_out": "Photos in Portugal, and the four days of arrival (set arrivals): the "
            "question leaves them out.",
            "sub_goal": "Find what can be ridden on and food, on the later days.",
            "next_action": "Look at the candidates of Florence before trusting the scores.",
        },
    ),
    (
        9,
        {
            "decisions": "Rides and food are linked by calendar day (set both). Every candidate is "
            "looked at, since scores alone let parked cars in. The bus in Florence is on one photo "
            "of 11 June; its front has to be read from crops.",
            "ruled_out": "Photos in Portugal and the four days of arrival. Cars and trucks: the "
            "question does not name them. The whole photo is too small to read the bus.",
            "sub_goal": "Read the front of the bus, and see that 11 June has food.",
            "next_action": "Search for other buses in Tuscany, then view the food of 11 June.",
        },
    ),
    (
        15,
        {
            "decisions": "11 June 2021 counts: three photos of pizza. 12 June counts: a cake on a "
            "table and a horse. The board of the bus cannot be read for certain, even enlarged.",
            "ruled_out": "Other buses of Tuscany: the one in Pisa is of the day of arrival. Cows "
            "and benches are no rides.",
            "sub_goal": "Is there a laid table at the beach on 13 June, for the horses and boat?",
            "next_action": "Enlarge the table under the umbrella, then go on with Japan.",
        },
    ),
    (
        20,
        {
            "decisions": "Tuscany is done: 11, 12 and 13 June count, with bicycle, bus, horses and "
            "boat. A laid table needs a meal on it; vases and books do not make one.",
            "ruled_out": "Tokyo's first day (arrival). Nara has bananas and nothing to ride on.",
            "sub_goal": "Did anybody eat on 5 April 2022 in Kyoto, where the train and boat are?",
            "next_action": "See all photos of that day, then Scotland and New York.",
        },
    ),
    (
        25,
        {
            "decisions": "Tuscany's three later days count. The rest is decided day by day by food "
            "that was really seen. The answer will leave Kyoto and the Highlands out by sets.",
            "ruled_out": "Kyoto on 5 April: no food, only a room with vases. The Highlands on 12 "
            "September: four photos and no food. Days of arrival.",
            "sub_goal": "New York on 4 July 2023: pizza, and a bicycle that must be seen.",
            "next_action": "Enlarge the bicycle, combine the sets, check the facts, answer.",
        },
    ),
]
