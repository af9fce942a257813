"""What a builder says of its work, a line for each thing."""

from __future__ import annotations

from mesh_core.model.build import Built, Failed, Request, Said
from mesh_core.ports.broker import BrokerOutage, Outcome, Returned, TooLarge, Unconfirmed


def waiting(builder: str, registry: str) -> str:
    """That it is there, and where what it builds goes."""
    return f"the builder {builder} waits for requests; what it builds goes to {registry}"


def begun(request: Request) -> str:
    """That a request is at work."""
    return f"building {called(request)} for request {request.id}"


def ended(request: Request, said: Said) -> str:
    """How it ended."""
    if isinstance(said, Built):
        return f"built {called(request)}: {said.artifact.artifact}"
    assert isinstance(said, Failed)
    return f"{called(request)} was not built, at step {said.step}: {said.why}"


def called(request: Request) -> str:
    """What a request is for, in short."""
    return f"{request.module} at {request.commit[:7]}"


def no_request() -> str:
    """That something in the queue was none."""
    return "something that is no request for a build was taken from the queue, and dropped"


def not_sent(outcome: Outcome) -> str:
    """That an answer is not away; the request comes again."""
    match outcome:
        case Returned(why=why):
            words = f"nobody listens to this builder: {why}"
        case Unconfirmed(why=why):
            words = why
        case TooLarge(size=size, limit=limit):
            words = f"it has {size} bytes, and may have {limit}"
        case _:
            words = "it is"
    return f"an answer could not be sent, and is kept: {words}"


def not_kept(why: str) -> str:
    """That an answer is only in memory: if it is lost on its way, the same is built once more."""
    return f"an answer cannot be kept, and is sent all the same: {why}"


def not_begun(why: str) -> str:
    """Why nothing was built: the builder's own machine."""
    return f"the builder's machine refused: {why}"


def stopped() -> str:
    """That the builder ends, and with it what it had in hand."""
    return "asked to stop, and stopped; what was at work goes to another builder"


def not_shut_in(why: str) -> str:
    """What it means that there is no sandbox."""
    return (
        f"WARNING: commands of builds are not shut in, and may do all that this builder may: {why}; "
        "their answers say not-at-all"
    )


def no_sandbox(why: str) -> tuple[str, ...]:
    """Why a builder does not start, and what would do."""
    return (
        f"refused: builds cannot be shut in here: {why}",
        "  install bubblewrap, or start it with --without-sandbox: then whoever can change a source can do",
        "  here all that this builder can",
    )


def out_of_reach(outage: BrokerOutage) -> str:
    """That the broker is lost; what is at work goes on."""
    return f"{outage}; trying again"


def in_reach() -> str:
    """That it is back."""
    return "the broker is in reach again"
