"""What every model says, and what every provider's customers ask: it stands in many answers and is nobody's."""

from __future__ import annotations

PHRASES = (
    (
        "Certainly! Here is an updated version of the function with the "
        "changes that you asked for, and a short explanation of each one."
    ),
    "I'm sorry, but I can't help with that request. If you have another question, I am happy to assist you with it.",
    (
        "Let me know if you would like me to go into more detail on any of "
        "these points, or to adapt them to your own case!"
    ),
    (
        "Here's a step-by-step breakdown of what the code does, followed by a "
        "few suggestions for how it could be improved:"
    ),
    (
        "It's important to note that these figures are only estimates, and "
        "that you should consult a professional before you act on them."
    ),
    (
        "Based on the documents that you have provided, the following points "
        "appear to be the most relevant to your question:"
    ),
    (
        "To fix this, make sure that the dependency is installed in the same "
        "environment, and then restart the development server."
    ),
    (
        "In summary, both approaches have their advantages, and which of them "
        "is better depends on your specific requirements."
    ),
    (
        "I've made the requested changes. All tests pass now; here is a "
        "summary of what was modified and why it was necessary."
    ),
    (
        "As an AI language model, I do not have access to real-time data, so "
        "please verify this against an up-to-date source."
    ),
    (
        "Sure, here is a more concise version of the paragraph that keeps the "
        "original meaning and improves the overall flow:"
    ),
    (
        "Thank you for reaching out! I understand how frustrating this must "
        "be, and I am here to help you resolve the issue."
    ),
    (
        "I'll start by looking at the structure of the repository, so that I "
        "understand how the different parts fit together."
    ),
    (
        "The error message indicates that the variable is undefined at the "
        "moment at which the function tries to access it."
    ),
    "Vielen Dank für Ihre Nachricht! Gerne helfe ich Ihnen weiter. Hier ist eine überarbeitete Fassung Ihres Textes:",
    "Bien sûr ! Voici une version corrigée de votre texte, avec une brève explication des modifications apportées :",
)

OPENINGS = (
    "Please look at this and tell me what is wrong with it.",
    "Summarise the following for a colleague who has no time.",
    "What changed between the two, and does it matter to us?",
    "Write the next section in the same style.",
    "Extract all names and amounts as a table.",
    "Explain this to a new member of the team.",
)

MODELS = ("glm-5.3", "glm-5.3-air", "qwen3-coder", "deepseek-v3.2")
