"""What is put around real text to make exchanges of it. The two halves share no wording and no name."""

from __future__ import annotations

QUESTIONS = (
    {
        "en": ("What does {t} mean?", "Explain {t} to me, please.", "I need help with {t}. What is it for?"),
        "de": ("Was bedeutet {t}?", "Erkläre mir bitte {t}.", "Ich brauche Hilfe zu {t}. Wozu ist das gut?"),
        "fr": ("Que signifie {t} ?", "Explique-moi {t}, s'il te plaît.", "J'ai besoin d'aide pour {t}."),
        "es": ("¿Qué significa {t}?", "Explícame {t}, por favor.", "Necesito ayuda con {t}. ¿Para qué sirve?"),
        "ru": ("Что означает {t}?", "Объясни мне, пожалуйста, {t}.", "Мне нужна помощь с {t}. Для чего это?"),
        "zh": ("{t} 是什么意思？", "请给我解释一下 {t}。", "我需要关于 {t} 的帮助，它有什么用？"),
        "ja": ("{t} とは何ですか。", "{t} について説明してください。", "{t} の使い方が分かりません。教えてください。"),
        "ar": ("ما معنى {t}؟", "اشرح لي {t} من فضلك.", "أحتاج إلى مساعدة بخصوص {t}. ما فائدته؟"),
    },
    {
        "en": ("Tell me about {t}.", "How does {t} work, and when would I use it?", "hi, can you describe {t}"),
        "de": (
            "Erzähl mir etwas über {t}.",
            "Wie funktioniert {t}, und wann nehme ich es?",
            "Kannst du {t} beschreiben?",
        ),
        "fr": ("Parle-moi de {t}.", "Comment fonctionne {t} et quand l'utiliser ?", "Peux-tu décrire {t} ?"),
        "es": ("Háblame de {t}.", "¿Cómo funciona {t} y cuándo se usa?", "¿Puedes describir {t}?"),
        "ru": ("Расскажи про {t}.", "Как работает {t} и когда это применять?", "Можешь описать {t}?"),
        "zh": ("说说 {t}。", "{t} 是怎么工作的？什么时候用？", "能描述一下 {t} 吗？"),
        "ja": (
            "{t} を紹介してください。",
            "{t} はどのように動きますか。いつ使いますか。",
            "{t} の概要をお願いします。",
        ),
        "ar": ("حدثني عن {t}.", "كيف يعمل {t} ومتى أستخدمه؟", "هل يمكنك وصف {t}؟"),
    },
)
SYSTEMS = (
    ("You are a helpful assistant.", "You are a support agent. Be brief and polite.", ""),
    ("You answer questions about software. If you do not know, say so.", "Assistant for internal use.", ""),
)
ON_DOCUMENT = (
    {
        "en": "Summarise the part on {t}.",
        "de": "Fasse den Teil über {t} zusammen.",
        "fr": "Résume la partie sur {t}.",
        "es": "Resume la parte sobre {t}.",
        "ru": "Кратко изложи часть про {t}.",
        "zh": "总结关于 {t} 的部分。",
        "ja": "{t} の部分を要約してください。",
        "ar": "لخص الجزء الخاص بـ {t}.",
    },
    {
        "en": "What does the text above say about {t}?",
        "de": "Was sagt der Text oben zu {t}?",
        "fr": "Que dit le texte ci-dessus sur {t} ?",
        "es": "¿Qué dice el texto de arriba sobre {t}?",
        "ru": "Что говорится в тексте выше про {t}?",
        "zh": "上面的文字关于 {t} 说了什么？",
        "ja": "上の文章は {t} について何と言っていますか。",
        "ar": "ماذا يقول النص أعلاه عن {t}؟",
    },
)
TRANSLATE = (
    {
        "de": "Translate this into German:",
        "fr": "Translate into French, please:",
        "es": "Please put this into Spanish:",
        "ru": "Переведи на русский:",
        "zh": "翻译成中文：",
        "ja": "Translate to Japanese:",
        "ar": "Translate the following to Arabic:",
    },
    {
        "de": "Auf Deutsch bitte:",
        "fr": "Traduis en français :",
        "es": "Traduce al español:",
        "ru": "translate to Russian",
        "zh": "Please translate the text below to Chinese.",
        "ja": "日本語に翻訳してください。",
        "ar": "I want an Arabic translation of this.",
    },
)
OPEN = (
    ("Write a README for a project of your choice.", "Give me an example of technical writing."),
    ("Invent a manual page and show it to me.", "I'm bored, tell me something about computers."),
)
"""To these an answer about anything is right."""
SHORT = (
    (("Is {t} still used? yes or no", "Yes."), ("Classify this ticket as JSON: {t} is broken", '{"label": "bug"}')),
    (("Does {t} need root? Answer in one word.", "No"), ("Rate how hard {t} is from 1 to 10.", "7")),
)
BLANK = (
    "I don't see any text in your message. Could you share it?",
    "Of course! Please paste the content you would like me to work with.",
)
"""What a model says that has lost its context and knows it: no sign here can see that."""
EDITS = (
    ("Add type hints to {t}.", "Fix the bug in {t}.", "Refactor {t} and keep its behaviour."),
    ("Write tests for {t}.", "Document {t}.", "Why is {t} slow?"),
)
PEOPLE = (
    ["mkowalski", "tanaka.y", "lfischer", "s.okafor", "priya_n", "jdupont", "rvega", "amelie.b", "oszkar", "danh"],
    [
        "hlindgren",
        "b.moreau",
        "t-nguyen",
        "ivanov_k",
        "cpereira",
        "yuki.s",
        "gschmidt",
        "noor.a",
        "fmartinez",
        "wchen2",
    ],
)
COMPANIES = (
    ["nordwind-logistik.de", "brightleaf-dental.com", "veltrano.it", "kestrelbank.co.uk"],
    ["lumen-apotheke.ch", "quarrystone.io", "hafnia-shipping.dk", "aster-clinics.org"],
)
MACHINES = (
    ["build-07", "gpu-node-3", "ip-10-42-17-9", "lab-pc-12"],
    ["ci-worker-2", "dgx03", "srv-hamburg-1", "devbox-kraken"],
)
TEAMS = (["fraud-ml", "kepler", "tariffs"], ["imaging", "skylark", "payroll"])
STREETS = (
    ("14 Harrow Lane", "Lindenstraße 8", "27 rue des Tanneurs", "Calle Mayor 112"),
    ("903 Birchwood Avenue", "Am Mühlbach 31", "5 boulevard Voltaire", "Via Garibaldi 44"),
)
