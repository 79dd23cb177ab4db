"""Sessions of the OpenAI Agents SDK in Counterfoil.

session = CounterfoilSession("chat-42", account="customer-7")
await Runner.run(agent, "Where is my order?", session=session)
"""

from counterfoil_recorder.agents.session import CounterfoilSession
from counterfoil_recorder.agents.store_api import SessionRefused

__all__ = ["CounterfoilSession", "SessionRefused"]
