"""The one exception tree of the package.

    PhotocraftError
    ├── UsageError              a wrong option, argument or combination (exit code 2)
    ├── SettingsError           a bad settings file or PHOTOCRAFT_* variable (2)
    ├── MissingExtraError       an engine is not installed; names the extra (3)
    ├── PhotoError              one file cannot be used; it is skipped and reported (2)
    │   ├── UnsupportedFormat   not a picture this package reads
    │   ├── UnreadablePhoto     a picture, but broken or not permitted
    │   └── PictureTooLarge     the header states more pixels than the limit
    ├── PageError               one page of local knowledge cannot be used; skipped, reported (2)
    ├── LibraryError            the library folder (4)
    │   ├── LibraryNotFound
    │   ├── LibraryLocked       another process holds the lock
    │   ├── LibraryCorrupt
    │   ├── LibraryTooNew       written by a newer version
    │   └── StorageFull         no space left; nothing stored was lost
    ├── EncoderError            an encoder folder or model that cannot be used (5)
    │   └── NoVectors           nothing is embedded with this encoder yet
    ├── SearchError             a search that cannot be run as asked (2)
    │   ├── FilterSyntaxError   a filter expression, with position and hint
    │   ├── TimeWordsError      words or dates that are no time
    │   ├── PlaceNotFound       a name that the gazetteer does not know
    │   ├── UnknownPhoto        a UID that is not in the library
    │   └── UnknownSet          a named set that was never saved
    ├── EvaluationError         a data set or a run's folder that cannot be used (2)
    └── AgentError              an episode that cannot go on (6)
        ├── ModelError          the backbone failed
        │   ├── ServerLost      its server cannot be reached
        │   ├── PromptTooLong   the prompt does not fit into its window
        │   ├── ReplyLate       a reply was given up when the question's time was over
        │   ├── PictureUnknown  a picture was sent by name only, and it has forgotten it
        │   └── TooManyPictures more pictures than one prompt may hold
        ├── MalformedCall       a tool call that breaks its schema; goes back to the model
        └── QuestionNotUnderstood   a form of question that is not answered (2)

Every error carries ``hint``: what the person can do about it. The command line prints
``error: <message>`` and ``hint: <hint>`` and exits with ``exit_code``; no traceback.
"""

from __future__ import annotations


class PhotocraftError(Exception):
    """Base of all errors that the package raises on purpose."""

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(PhotocraftError):
    exit_code = 2


class SettingsError(PhotocraftError):
    exit_code = 2


class MissingExtraError(PhotocraftError):
    """An optional engine is not installed."""

    exit_code = 3

    def __init__(self, module: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the Python module {module!r}, which is not installed",
            hint=f"install the {extra!r} extra: pip install 'photocraft-local[{extra}]'",
        )
        self.module = module
        self.extra = extra


class PhotoError(PhotocraftError):
    """One file cannot be used. ``reason`` is a short stable code for reports."""

    exit_code = 2
    reason = "unreadable"


class UnsupportedFormat(PhotoError):
    reason = "unsupported"


class UnreadablePhoto(PhotoError):
    reason = "unreadable"


class PictureTooLarge(PhotoError):
    reason = "too-large"


class PageError(PhotocraftError):
    """``reason`` is a short stable code for reports, e.g. "encrypted"."""

    exit_code = 2

    def __init__(self, reason: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class LibraryError(PhotocraftError):
    exit_code = 4


class LibraryNotFound(LibraryError):
    pass


class LibraryLocked(LibraryError):
    pass


class LibraryCorrupt(LibraryError):
    pass


class LibraryTooNew(LibraryError):
    pass


class StorageFull(LibraryError):
    pass


class EncoderError(PhotocraftError):
    exit_code = 5


class NoVectors(EncoderError):
    pass


class SearchError(PhotocraftError):
    exit_code = 2


class FilterSyntaxError(SearchError):
    """A mistake in a filter expression; ``position`` is a 0-based character offset."""

    def __init__(self, message: str, *, position: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.position = position


class TimeWordsError(SearchError):
    pass


class PlaceNotFound(SearchError):
    pass


class UnknownPhoto(SearchError):
    pass


class UnknownSet(SearchError):
    pass


class EvaluationError(PhotocraftError):
    exit_code = 2


class AgentError(PhotocraftError):
    exit_code = 6


class ModelError(AgentError):
    pass


class ServerLost(ModelError):
    pass


class PromptTooLong(ModelError):
    """``window``: the tokens that the server says it has, 0 where it says nothing."""

    def __init__(self, message: str, *, window: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.window = window


class ReplyLate(ModelError):
    pass


class PictureUnknown(ModelError):
    pass


class TooManyPictures(ModelError):
    """``most``: how many one prompt may hold."""

    def __init__(self, message: str, *, most: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.most = most


class MalformedCall(AgentError):
    pass


class QuestionNotUnderstood(AgentError):
    """The hint gives questions that work."""

    exit_code = 2
