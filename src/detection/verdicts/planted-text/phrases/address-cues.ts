/**
 * How a language addresses a model. The fields are alternatives of patterns over lowercase words joined by single spaces, with " . " for stops.
 * `note`: what is addressed to somebody. `to`: to, for. `greeting`: begins an address. `model`: names that only models have. `reader`: names
 * that people and programs have as well. `must`: an obligation. `verdict`: beginnings of words about a verdict. `you`: "if you are".
 */
type AddressWords = Record<'note' | 'to' | 'greeting' | 'model' | 'reader' | 'must' | 'verdict' | 'you', string>;

const products = 'llms?|chat ?gpt|gpt|claude|gemini|copilot|mistral';

const words: readonly AddressWords[] = [
  {
    // German
    note: 'hinweise?|anmerkung(?:en)?|nachricht|notiz|mitteilung|anweisung(?:en)?|info|information(?:en)?|botschaft|bitte|vermerk|gerichtet|wichtig',
    to: 'an|für',
    greeting: 'liebe[rs]?|hallo|guten tag|achtung|hey|sehr geehrte[rs]?',
    model: `(?:\\p{L}+-)?sprachmodells?|ki(?:-\\p{L}+)?|ai(?:-\\p{L}+)?|künstlichen? intelligenz|chatbots?|${products}`,
    reader:
      'assistent(?:en|in)?|analyst(?:en|in)?|modell|agent(?:en)?|(?:\\p{L}+)?system|prüfer|gutachter|bewerter|auswerter|richter',
    must: 'soll(?:en|te)?|muss|müssen|darf|möge|hat zu',
    verdict:
      'bewert|einstuf|eingestuft|meld|alarm|harmlos|unbedenklich|ignorier|schließ|antwort|ausgeb|nenn|verdächtig|kritisch',
    you: '(?:wenn|falls|sofern) (?:du|sie) (?:\\S+ ){0,4}',
  },
  {
    // French
    note: "notes?|remarques?|messages?|avis|consignes?|instructions?|information|à l'attention|attention|important",
    to: "à|aux?|pour|de|du|des|à l'attention d[eu]s?",
    greeting: 'cher|chère|bonjour|attention|salut|hé',
    model: `modèles? de langage|modèles? linguistiques?|(?:l')?ia|(?:l'|d')?intelligence artificielle|chatbots?|robot conversationnel|${products}`,
    reader:
      "(?:l'|d')?assistante?|(?:l'|d')?analystes?|modèle|(?:l')?agent|système|évaluateur|vérificateur|relecteur|juge",
    must: 'doi(?:t|vent|s)|devez|devrait',
    verdict: 'class|signal|alert|bénin|inoffensi|ignor|répond|indiqu|suspect|critique|conclu|considér',
    you: "(?:si|comme) (?:tu|vous|t') ?(?:\\S+ ){0,4}",
  },
  {
    // Spanish
    note: 'notas?|aviso|mensaje|instrucci(?:ón|ones)|información|indicaci(?:ón|ones)|atención|importante|recado',
    to: 'a|al|para',
    greeting: 'estimad[oa]|querid[oa]|hola|atención|oye',
    model: `modelos? de lenguaje|modelos? lingüísticos?|ia|inteligencia artificial|chatbots?|${products}`,
    reader: 'asistente|analista|modelo|agente|sistema|revisor|evaluador|juez',
    must: 'debes?|deben|debe(?:ría)?|tienes? que|ha de',
    verdict: 'clasific|inform|alert|benign|inofensiv|ignor|respond|report|sospech|crític|conclu|consider|marc',
    you: 'si (?:\\S+ ){0,4}',
  },
  {
    // Portuguese
    note: 'notas?|aviso|mensagem|instruç(?:ão|ões)|informação|recado|atenção|importante|observação',
    to: 'a|ao|à|para|pra',
    greeting: 'car[oa]|prezad[oa]|querid[oa]|olá|atenção|oi',
    model: `modelos? de linguagem|ia|inteligência artificial|chatbots?|${products}`,
    reader: 'assistente|analista|modelo|agente|sistema|revisor|avaliador|juiz',
    must: 'deve(?:m|ria)?|tem que|precisa',
    verdict: 'classific|inform|alert|benign|inofensiv|ignor|respond|report|suspeit|crític|conclu|consider|marc',
    you: 'se (?:\\S+ ){0,4}',
  },
  {
    // Italian
    note: 'not[ae]|avviso|messaggio|istruzion[ei]|informazion[ei]|attenzione|importante|promemoria',
    to: "a|al|alla|all'|per|per il|per la|per l'",
    greeting: 'car[oa]|gentile|ciao|attenzione|salve|ehi',
    model: `modell[oi] linguistic[oi]|modell[oi] di linguaggio|(?:l'|all'|dell')?ia|(?:l'|all')?intelligenza artificiale|chatbots?|${products}`,
    reader:
      "(?:l'|all')?assistente|(?:l'|all')?analista|modello|(?:l'|all')?agente|sistema|revisore|valutatore|giudice",
    must: 'deve|devono|devi|dovrebbe',
    verdict: 'classific|segnal|avvis|allert|benign|innocu|ignor|rispond|riport|sospett|critic|conclud|consider',
    you: 'se (?:\\S+ ){0,4}',
  },
  {
    // Russian and Ukrainian
    note: 'примечани[ея]|примітка|заметка|сообщение|повідомлення|инструкци[яи]|інструкція|указани[ея]|обращение|внимани[ею]|увага|важно|памятка',
    to: 'для|к|до',
    greeting: 'уважаем(?:ый|ая)|дорог(?:ой|ая)|привет|внимание|здравствуй(?:те)?|шановн(?:ий|а)|эй',
    model: `языков(?:ой|ая|ую|ых) модел(?:и|ь|ей)|мовн(?:ої|а|ій) модел(?:і|ь)|ии|ші|(?:ии|ai|gpt|чат|ші)-\\p{L}+|нейросет(?:и|ь)|нейронн\\S+ сет(?:и|ь)|искусственн\\S+ интеллект\\S*|чат-?бот\\S*|ai|${products}`,
    reader:
      'ассистент[ау]?|асистент[ау]?|помощник[ау]?|аналитик[ау]?|аналітик[ау]?|модел[иь]|агент[ау]?|систем[еаы]|проверяющ\\S+|рецензент[ау]?|судь[еия]',
    must: 'долж(?:ен|на|ны)|обязан[аы]?|следует|нужно|необходимо|повинн[аі]|має',
    verdict: 'классифиц|сообщ|безопасн|безвредн|игнорир|ответ|счита|счесть|призна|подозрит|критич|отмет|вернуть',
    you: '(?:если|якщо) (?:ты|вы|ти|ви) ?(?:\\S+ ){0,4}',
  },
  {
    // Dutch, Swedish, Danish and Norwegian
    note: 'opmerking|bericht|notitie|aanwijzing(?:en)?|instructies?|belangrijk|let op|meddelande|notering|anteckning|anvisning(?:ar)?|besked|note|melding|merknad|viktigt?|vigtigt?',
    to: 'aan|voor|till|för|til|for',
    greeting: 'beste|geachte|hallo|hej|kära|bästa|kære|kjære|hei|let op',
    model: `taalmodel(?:len)?|språkmodell(?:en)?|sprogmodel(?:len)?|ki|ai(?:-\\p{L}+)?|kunstmatige intelligentie|artificiell intelligens|kunstig intelligens|chatbot(?:en)?|${products}`,
    reader:
      'assistent(?:en)?|analist|analytiker(?:en)?|analysesysteem|model(?:len)?|agent(?:en)?|systeem|systemet|beoordelaar|granskare(?:n)?',
    must: 'moet(?:en)?|dient|ska|måste|bör|skal|må',
    verdict:
      'beoordel|meld|alarm|onschuldig|ongevaarlijk|neger|antwoord|bedöm|rapporter|ofarlig|ignorer|svar|vurder|harmløs',
    you: '(?:als|indien|om|hvis|dersom) (?:je|u|jij|du) (?:\\S+ ){0,4}',
  },
  {
    // Polish, Czech and Slovak
    note: 'uwaga|notatka|wiadomość|instrukcj[ae]|informacja|ważne|poznámka|zpráva|správa|pokyny?|důležité|upozornění',
    to: 'do|dla|pro|pre',
    greeting: 'drog[ia]|szanowny|uwaga|cześć|milý|vážený|ahoj|pozor',
    model: `model(?:u|em)? językow(?:y|ego|ym|emu)|jazykov(?:ý|ého|ému) model(?:u)?|si|ai|sztucznej? inteligencj[ai]|umělá inteligence|umělé inteligence|umelej? inteligenci[ae]|chatbot(?:a|u|y)?|${products}`,
    reader:
      'asystent(?:a|ce)?|asistent(?:a|ovi|y)?|analityka?|analityk|analytik(?:a|y|ovi)?|modelu?|agenta?|systemu?|systém(?:u)?|recenzenta?',
    must: 'powin(?:ien|na|no)|musi|má|mus[íi]',
    verdict: 'oceni|zgłosi|nieszkodliw|ignor|odpowied|uzna|sklasyfik|nahlás|neškodn|odpov|podejrzan|označ|vyhodno',
    you: '(?:jeśli|jeżeli|pokud|ak) (?:\\S+ ){0,4}',
  },
  {
    // Turkish
    note: 'not|mesaj|talimat(?:lar)?|bilgi|önemli|uyarı|dikkat',
    to: 'için',
    greeting: 'sevgili|sayın|merhaba|dikkat|selam',
    model: `dil modeli(?:ne|nin)?|yapay zek(?:a|â)(?:ya|nın)?|sohbet botu|${products}`,
    reader: 'asistan(?:a)?|analist(?:e)?|modele?|sisteme?|ajana?',
    must: 'gerekir|gerekmektedir|zorunda(?:dır)?|meli(?:dir)?',
    verdict: 'zararsız|bildir|yanıt|cevap|değerlendir|yoksay|işaretle|görmezden',
    you: 'eğer (?:\\S+ ){0,4}',
  },
];

const start = '(?:^|\\. )';
const some = '(?:\\S+ ){0,2}';
const end = '(?![\\p{L}\\p{M}])';

const createPattern = ({ note, to, greeting, model, reader, must, verdict, you }: AddressWords): RegExp =>
  new RegExp(
    [
      `(?<![\\p{L}-])(?:${note}) (?:\\. )?(?:\\S+ )?(?:${to}) ${some}(?:${model})${end}`,
      `(?<![\\p{L}-])(?:${note}) (?:\\. )?(?:${to}) ${some}(?:${reader}) \\. `,
      // Some languages decline the noun instead ("сообщение языковой модели", "dil modeline not").
      `${start}(?:${note}) (?:${model})${end}(?: \\S+){0,2} \\.`,
      `${start}(?:${model}) (?:${to}|${note})(?: \\S+)? \\.`,
      `${start}(?:${greeting}) (?:\\. )?${some}(?:${model})${end}`,
      `${start}(?:${greeting}) (?:[^\\s.]+ )?(?:${reader})${end}(?! (?:wird|ist|est|es|é|è|är|er|jest|je)${end})(?: \\S+){0,14} (?:${verdict})`,
      `${start}(?:${to}) ${some}(?:${model}) \\. `,
      `(?<!\\p{L})(?:${model}) (?:\\S+ )?(?:${must})${end}(?: \\S+){0,8} (?:\\S*?)(?:${verdict})`,
      `(?<!\\p{L})${you}(?:${model})${end}`,
    ].join('|'),
    'u',
  );

/** Every address contains one of these. */
const anchor =
  /modell?|modèle|модел|assist|asist|asyst|ассист|асист|помощник|analy|analist|аналит|аналіт|agent|агент|syst|sist|систем|\bki\b|\bki-|\bia\b|'ia\b|\bai\b|\bai-|\bsi\b|ии|ші|intelli|inteli|intelig|интеллект|нейро|bot|бот|zeka|zekâ|ajan|llm|gpt|claude|gemini|copilot|mistral|prüfer|gutachter|werter|richter|teur|juge|juez|juiz|giudice|revis|avaliador|evaluador|valutatore|рецензент|провер|судь|beoordel|granskar|recenz/u;

const patterns = words.map(createPattern);

/** Returns whether words of a language with spaces, joined with " . " for stops, are addressed to a model. */
export const addressesModel = (joined: string): boolean =>
  anchor.test(joined) && patterns.some((pattern) => pattern.test(joined));

/** Addresses in scripts that do not separate words, or that attach the preposition. They are matched in the folded text itself. */
export const unspacedAddresses =
  /(?:致|给|給|告|写给|寫給|提醒|注意[:：]?|通知|对|對)[^。\n]{0,6}(?:语言模型|語言模型|大模型|人工智能|人工智慧|AI|LLM|GPT|智能助手|聊天机器人)|(?:致|给|給|写给|寫給|告)[^。\n]{0,4}(?:分析(?:员|師|师|系统)|助手|审核(?:员|者)|系统)[^。\n]{0,4}[:：,，]|(?:语言模型|語言模型|人工智能|人工智慧|AI ?(?:助手|分析师|分析員|系统|模型)|大模型)[^。\n]{0,6}(?:请|請|应(?:该|当)|應|必须|必須|务必|不要|切勿|[:：])|如果你是[^。\n]{0,8}(?:模型|AI|人工智能|助手)|(?:言語モデル|AI|人工知能|LLM|チャットボット|AIアシスタント)(?:の皆さん|の皆様|さん|様|アシスタント|アナリスト)?(?:へ[:：、。\s]|へのお?(?:注意|知らせ|指示|メモ|願い|連絡|メッセージ|伝言)|宛|向け(?:の)?(?:メモ|注意|指示|メッセージ)|に告ぐ|は必ず|[:：])|(?:アシスタント|アナリスト|分析(?:官|者|担当者?)|システム|レビュ(?:ー|ア)(?:担当)?者?)(?:様|さん)?(?:へのお?(?:注意|知らせ|指示|メモ|願い|連絡|メッセージ)[:：]|へ[:：])|あなたが(?:AI|言語モデル)|(?:언어 ?모델|인공 ?지능|AI|LLM|챗봇)(?: ?(?:어시스턴트|분석가|시스템))?(?:에게|께|님|은 반드시|는 반드시|를 위한 ?(?:참고|메모|안내|지시)|[:：])|(?:분석가|어시스턴트|시스템)(?:에게|께)[^.\n]{0,10}[:：]|(?:ملاحظة|رسالة|تعليمات|تنبيه|إلى|عزيزي)[^.\n]{0,14}(?:نموذج|النموذج|للنموذج|الذكاء الاصطناعي|للذكاء الاصطناعي|المساعد الذكي|المحلل الآلي)|(?:भाषा मॉडल|एआई|AI)(?: सहायक| विश्लेषक)?(?: के लिए| को | ध्यान)|(?:מודל(?: ה)?שפה|בינה מלאכותית)[^.\n]{0,4}[:：]|(?:הערה|הודעה|הנחיה)[^.\n]{0,8}(?:מודל|לבינה|לעוזר)/u;
