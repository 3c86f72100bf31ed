"""Where a made-up life takes place: home, work, towns for trips; cameras. Facts of geography only.

A town's spots lie within 2 km of its centre, so that its name holds for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Town:
    """``spots``: latitude, longitude of places in it, a kilometre or so apart."""

    name: str
    country: str
    zone: str  # IANA name
    spots: tuple[tuple[float, float], ...]


def _town(name: str, country: str, zone: str, latitude: float, longitude: float) -> Town:
    steps = ((0.0, 0.0), (0.009, -0.006), (-0.008, 0.009), (0.004, 0.013))
    spots = tuple((round(latitude + a, 5), round(longitude + b, 5)) for a, b in steps)
    return Town(name, country, zone, spots)


HOME = _town("Lisbon", "Portugal", "Europe/Lisbon", 38.7205, -9.1455)
HOME_SPOT, WORK_SPOT = 0, 3  # of HOME
TOWNS = (
    _town("Rome", "Italy", "Europe/Rome", 41.8947, 12.4839),
    _town("Florence", "Italy", "Europe/Rome", 43.7731, 11.2560),
    _town("Kyoto", "Japan", "Asia/Tokyo", 35.0116, 135.7681),
    _town("Osaka", "Japan", "Asia/Tokyo", 34.6937, 135.5023),
    _town("Berlin", "Germany", "Europe/Berlin", 52.5200, 13.4050),
    _town("Munich", "Germany", "Europe/Berlin", 48.1374, 11.5755),
    _town("Chicago", "United States", "America/Chicago", 41.8781, -87.6298),
    _town("Vienna", "Austria", "Europe/Vienna", 48.2085, 16.3721),
    _town("Athens", "Greece", "Europe/Athens", 37.9838, 23.7275),
    _town("Sydney", "Australia", "Australia/Sydney", -33.8688, 151.2093),
)
NEVER = ("Oslo", "Helsinki", "Cairo", "Lima", "Toronto")  # towns that no life here goes to
CAMERAS = ("Apple iPhone 12", "Canon EOS R6")
NAMED_KM = 0.3  # radius of the places that the person names
NAMED = {"home": HOME.spots[HOME_SPOT], "work": HOME.spots[WORK_SPOT]}
