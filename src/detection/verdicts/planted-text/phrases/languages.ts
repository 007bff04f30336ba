/** Cues of languages other than English. `orders` count everywhere, `requests` where no script or command is expected. */
type LanguageCues = { functionWords: ReadonlySet<string>; orders: RegExp; requests: RegExp };

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Patterns match lowercase words joined by single spaces, with " . " for stops and " ? " for question marks. */
export const languages: readonly LanguageCues[] = [
  {
    // German
    functionWords: set(
      `der die das den dem des ein eine einen einem einer wieviel wann und oder aber nicht ist sind war du dein deine deinen sie ihr ihre wir uns ich mich mir auf mit von zu zum zur bei für über unter als auch nur noch wie was wer wo warum dass wenn bitte alle dieses diese diesen dieser nach vor im am um`,
    ),
    orders:
      /\b(?:ignorier(?:e|en|t)?|vergiss|vergesst|missachte|beachte nicht|überschreibe)\b(?: \S+){0,4} (?:anweisung(?:en)?|instruktion(?:en)?|regeln?|vorgaben?|befehle?|prompts?|kontext|alarm|meldung(?:en)?|vorherige[ns]?|bisherige[ns]?)|\b(?:stufe|bewerte|markiere|melde|werte|behandle|betrachte|klassifiziere|kennzeichne|setze|schließe)\b(?: \S+){1,6} (?:harmlos|unbedenklich|ungefährlich|gutartig|legitim|falsch(?:er)? alarm|fehlalarm|kritisch|erledigt|sicher|normal|nicht)\b|\b(?:melde|erwähne|berichte|alarmiere)\b(?: \S+){0,4} nicht\b|\bdu bist (?:jetzt|nun|ab jetzt|nicht mehr|kein|ein|eine)\b|\b(?:deine|deiner|deinen|deinem|ihre|ihrer) (?:antwort|anweisungen|systemanweisungen?|ausgabe|zusammenfassung|regeln|aufgabe)\b|\b(?:antworte|antworten sie) (?:nur|mit|auf|immer|ausschließlich)\b|\b(?:tu so|stell dir vor|verhalte dich|gib dich)\b/u,
    requests:
      /(?:^|\. |bitte |und |dann )(?:schreib(?:e|en sie)?|erklär(?:e|en sie)?|übersetz(?:e|en sie)?|nenn(?:e|en sie)?|erzähl(?:e|en sie)?|beschreib(?:e|en sie)?|fass(?:e|en sie)?|gib|geben sie|berechne|empfiehl|verfasse|erstelle|dichte|zähle|liste|vergleiche|wiederhole|antworte|sag(?:e|en sie)?|verrate|zeige|formuliere|entwirf) (?:mir |uns |bitte |doch )*(?:ein|eine|einen|die|der|das|den|dem|mir|uns|alle|warum|wie|was|drei|fünf|kurz|auf|mit|dass|ob|den|deinen?|ihren?)\b|\b(?:was|wer|wie|wo|wann|warum|welche[rs]?|wieviele?)\b[^.?]{4,120}\?|\b(?:kannst|können|könntest|könnten|würdest) (?:du|sie)\b/u,
  },
  {
    // French
    functionWords: set(
      `combien quand est-ce le la les un une des du de et ou mais ne pas est sont était tu ton ta tes vous votre vos nous notre je me moi sur avec pour par dans que qui quoi où comment pourquoi quel quelle quels quelles ce cette ces tout tous toutes à au aux en il elle ils`,
    ),
    orders:
      /\b(?:ignore[rsz]?|ignorez|oublie[sz]?|négligez?|ne tiens pas compte|ne tenez pas compte|désobéis)\b(?: \S+){0,5} (?:instructions?|consignes?|règles?|ordres?|directives?|alertes?|précédent(?:e?s)?|contexte)|\b(?:marque[sz]?|classe[sz]?|considère[sz]?|considérez|signale[sz]?|traite[sz]?|déclare[sz]?|note[sz]?)\b(?: \S+){1,6} (?:bénin|bénigne|inoffensi(?:f|ve)|légitime|normale?|faux positif|critique|sûr)\b|\bne (?:signale[sz]?|mentionne[sz]?|alerte[sz]?|rapporte[sz]?)\b|\btu es (?:maintenant|désormais|un|une|plus)\b|\bvous êtes (?:maintenant|désormais|un assistant|une ia)\b|\b(?:ta|votre) (?:réponse|consigne|sortie)\b|\btes (?:instructions|consignes|règles)\b|\b(?:réponds|répondez|répondre) (?:que|seulement|uniquement|par|avec|en|toujours)\b|\b(?:fais comme si|imagine que|comporte-toi)\b/u,
    requests:
      /(?:^|\. |et |puis |s'il te plaît |veuillez )(?:écri[st]|écrivez|explique[rsz]?|tradui[st]|traduisez|traduire|résume[rsz]?|décri[st]|décrivez|donne[rsz]?|nomme[sz]?|raconte[rsz]?|calcule[rsz]?|recommande[rsz]?|rédige[rsz]?|compose[rsz]?|listez|compare[rsz]?|répète[sz]?|di[st]|dites|montre[rsz]?|propose[sz]?) (?:-?moi |nous |donc )*(?:un|une|le|la|les|l'\S+|des|du|ce|cette|trois|cinq|pourquoi|comment|que|ton|ta|tes|votre|moi|en)\b|\b(?:quel|quelle|quels|quelles|qui|comment|pourquoi|où|quand|combien|est-ce|qu'est-ce)\b[^.?]{4,120}\?|\b(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous)\b/u,
  },
  {
    // Spanish
    functionWords: set(
      `cuánto cuántos por el la los las un una unos unas y o pero no es son era eres tu tus su sus usted nosotros yo me mí sobre con para por en que quién qué dónde cómo cuándo cuál cuáles este esta estos estas todo todos todas de del al lo se si`,
    ),
    orders:
      /\b(?:ignora[rd]?|ignore|olvida[rd]?|olvide|omite|desobedece|descarta|no sigas)\b(?: \S+){0,4} (?:instrucci(?:ón|ones)|reglas?|órdenes|indicaciones|directrices|anteriores|previas|alertas?|contexto)|\b(?:marca|marque|clasifica|clasifique|considera|considere|reporta|reporte|informa|trata|califica|declara)\b(?: \S+){1,6} (?:benign[oa]|inofensiv[oa]|legítim[oa]|normal|falso positivo|crític[oa]|segur[oa])\b|\bno (?:alertes?|reportes?|informes?|menciones?|avises?|escales?)\b|\b(?:ahora eres|eres un|eres una|ya no eres|actúa como|finge|imagina que|haz como si)\b|\b(?:en )?tu (?:respuesta|salida|mensaje)\b|\btus (?:instrucciones|reglas)\b|\b(?:responde|responda|contesta|conteste) (?:solo|sólo|únicamente|con|que|en|siempre)\b/u,
    requests:
      /(?:^|\. |y |luego |por favor )(?:escribe|escriba|explica|explique|traduce|traduzca|resume|resuma|describe|describa|dame|deme|dime|dígame|nombra|cuenta|cuéntame|calcula|calcule|recomienda|recomiende|redacta|redacte|compón|enumera|compara|repite|crea|haz|genera|propón|sugiere|muestra) (?:me |nos )*(?:un|una|el|la|los|las|lo|tres|cinco|por|cómo|qué|que|tu|tus|en|al|a)\b|\b(?:qué|quién|cuál|cuáles|cómo|cuándo|dónde|cuánto|cuántos|cuántas|por qué)\b[^.?]{3,120}\?|\b(?:puedes|puede usted|podrías|podría usted)\b/u,
  },
  {
    // Portuguese and Italian
    functionWords: set(
      `quanto quantos o os as um uma uns umas e ou mas não é são era você seu sua seus suas nós eu me mim sobre com para por em no na nos nas que quem quê onde como quando qual quais este esta estes estas tudo todos todas de do da dos das ao il lo gli i uno non sono sei tuo tua tuoi tue noi io di del della dei delle al alla con per su in che chi cosa dove come quale quali questo questa questi queste tutto tutti tutte si`,
    ),
    orders:
      /\b(?:ignor[ae]|esqueç?a|esquece|desconsidere|ignorar|dimentica|trascura|ignorate)\b(?: \S+){0,5} (?:instruções|regras|ordens|diretrizes|anteriores|alertas?|istruzioni|regole|ordini|precedenti|avvisi|contesto)|\b(?:marque|marca|classifique|considere|considera|reporte|segna|segnala|classifica|tratta|trate|diga que|di che|chiudi|feche)\b(?: \S+){1,7} (?:benign[oa]|inofensiv[oa]|legítim[oa]|legittim[oa]|innocu[oa]|normale?|falso positivo|crític[oa]|critic[oa]|segur[oa]|sicur[oa]|caso|alerta|avviso)\b|\b(?:você é agora|agora você é|aja como|finja|imagine que|ora sei|sei un|sei una|fingi di|comportati come|immagina che)\b|\b(?:sua resposta|suas instruções|tua risposta|tue istruzioni)\b|\b(?:responda|rispondi|rispondere) (?:apenas|somente|só|com|que|solo|soltanto|con|che|in|sempre)\b/u,
    requests:
      /(?:^|\. |e |poi |por favor |per favore )(?:escreva|explique|traduza|resuma|descreva|diga|conte|calcule|recomende|redija|componha|liste|compare|repita|crie|scrivi|spiega|traduci|riassumi|descrivi|dammi|dimmi|raccontami|calcola|consiglia|componi|elenca|confronta|ripeti|crea|suggerisci) (?:me |mi |nos |ci )*(?:um|uma|o|a|os|as|três|cinco|por|como|que|sua|suas|um|un|uno|una|il|lo|la|gli|le|tre|cinque|perché|come|che|tuo|tua|in)\b|\b(?:qual|quais|quem|quando|onde|quanto|quantos|quale|quali|chi|dove|quando|perché|che cosa|cos'è|qual è)\b[^.?]{3,120}\?|\b(?:você pode|pode me|puoi|potresti)\b/u,
  },
  {
    // Russian and Ukrainian
    functionWords: set(
      `сколько какой какая какие и в во не на что это как с со по к ко за из от до для о об у же бы ли или но а то так ты твой твоя твои вы ваш ваша мы я мне меня он она они его её их все всё этот эта эти который где когда почему кто будь пожалуйста`,
    ),
    orders:
      /(?:^|\s)(?:игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?|не обращай внимания|отбрось(?:те)?|ігноруй)(?= )(?: \S+){0,5} (?:инструкци|указани|правил|приказ|команд|предыдущ|вышеизложенн|оповещени|контекст|інструкці)|(?:^|\s)(?:отметь|пометь|считай|классифицируй|сообщи|укажи|оцени|ответь|скажи|закрой)(?:те)?(?: \S+){1,7} (?:безопасн|безвредн|доброкачествен|легитимн|нормальн|ложн|критическ|в порядке|порядке|законн)|(?:^|\s)не (?:сообщай|упоминай|поднимай|предупреждай|эскалируй)|(?:^|\s)(?:ты теперь|теперь ты|ты больше не|представь,? что|притворись|веди себя как|действуй как)(?= )|(?:^|\s)(?:твоём|твоем|твой|вашем|ваш) ответ|(?:^|\s)(?:твои|ваши|системн\S+) (?:инструкци|правил|указани)|(?:^|\s)(?:отвечай|ответь)(?:те)? (?:только|что|на|по|всегда|одним)/u,
    requests:
      /(?:^|\. |и |пожалуйста )(?:напиши|объясни|переведи|расскажи|опиши|назови|придумай|составь|посчитай|вычисли|перечисли|сравни|повтори|посоветуй|порекомендуй|сочини|дай|создай|покажи)(?:те)?(?: \S+)|(?:^|\s)(?:что|кто|как|где|когда|почему|сколько|какой|какая|какие|каков[аы]?)(?= )[^.?]{3,120}\?/u,
  },
];

/** Orders and requests in languages without spaces or with another script. They are matched in the folded text itself. */
export const unspacedOrders =
  /(?:忽略|无视|無視|忘记|忘記|不要理会|绕过)[^。]{0,12}(?:指令|指示|说明|規則|规则|提示|命令|警报|告警|要求)|(?:报告|標記|标记|判定|视为|認定|认为|归类)[^。]{0,12}(?:无害|無害|良性|正常|安全|误报|誤報|严重|合法)|(?:你现在是|你是一个|扮演|假装|假設你|从现在起)|(?:不要|请勿|別)(?:报告|上报|告警|报警|提及|触发)|(?:你的|您的)(?:回答|回复|指令|系统提示|提示词|输出)|系统提示|これまでの指示|(?:指示|命令|ルール)(?:を|は)(?:すべて|全て)?(?:無視|忘れ)|無視して|(?:無害|問題なし|正常|安全|誤検知)と(?:報告|判断|判定|みな)|あなたは(?:今|これから)|(?:이전|모든|위의)[^.]{0,8}(?:지시|명령|규칙)[^.]{0,6}(?:무시|잊)|무시하(?:고|세요|십시오|라)|(?:무해|정상|안전)(?:하다고|으로|로) (?:보고|표시|판단)|تجاهل[^.]{0,20}(?:التعليمات|الأوامر|القواعد|التنبيه)|أنت الآن|(?:अनदेखा|नज़रअंदाज़)/u;
export const unspacedRequests =
  /请(?:写|翻译|解释|告诉|总结|列出|推荐|描述|计算|回答|给我|帮|提供|创作|你)|(?:写一(?:首|篇|封|个|段)|翻译(?:成|为|一下|以下)|解释一下|告诉我|总结一下|列出|推荐一|讲一个)|(?:什么|怎么|如何|为什么|哪里|哪个|多少|谁|吗|呢)[^。]{0,30}[?？]|(?:什么是|首都是|是什么)|(?:書いて|教えて|翻訳して|説明して|要約して|報告して)(?:ください|くれ|下さい)?|(?:何ですか|ですか|でしょうか)|(?:해 주세요|해주세요|써 ?줘|써 주세요|알려 ?줘|알려 주세요|번역해|설명해|무엇입니까|인가요)|(?:اكتب|اشرح|ترجم|أخبرني|لخص|صف) |(?:ما هي|ما هو|كيف|لماذا|أين) [^.]{3,80}؟|(?:लिखें|बताएं|अनुवाद करें|क्या है)/u;

/** Writing systems without an alphabet of Latin, Cyrillic or Greek letters. */
export const otherScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Thai}]/gu;
