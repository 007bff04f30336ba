/** A kind of text addressed to a model, and the pattern that shows it in the lowercase words of a text. Every match contains an anchor. */
type StrongCue = { cue: PlantedCue; pattern: RegExp; anchors: string[] };

/** Why a text seems addressed to a model. */
export type PlantedCue =
  | 'override'
  | 'role'
  | 'reply'
  | 'verdict'
  | 'accusation'
  | 'markup'
  | 'request'
  | 'sentence'
  | 'code';

const order =
  'instructions?|prompts?|rules?|guidelines?|directives?|directions|orders|constraints|context|commands|task|tasks|policies|training|programming|everything|anything|alerts?|safety|safeguards?|restrictions?|conversation|text|data|rows?|logs?|evidence|findings?';
const earlier =
  'previous|prior|preceding|earlier|above|foregoing|existing|original|initial|all|any|every|your|these|those|other|system|security|the rest';
const reply =
  'answers?|responses?|repl(?:y|ies)|outputs?|verdicts?|summary|summaries|headlines?|conclusions?|assessments?|evaluations?|explanations?|analysis|reports?|solutions?|implementations?|code ?bases?|algorithms?|final message|messages?|texts?|words?|sentences?|code|program|script|project';
const narrowReply =
  'answers?|responses?|repl(?:y|ies)|outputs?|verdicts?|headlines?|solution(?: architecture)?|implementations?|code ?bases?|algorithms?|assessments?|conclusions?';
const model =
  'ai|a\\.i|llms?|language model|chat ?gpt|gpt|chatbot|chat bot|bot|assistant|ai assistant|model|agent|ai agent|copilot|claude|gemini|large language model|neural network|grader|classifier|judge|analyst|reviewer|reader|automated (?:system|analyst|reviewer)';
const harmless =
  'benign|harmless|safe|false positives?|not malicious|non-malicious|nonmalicious|not triggered|untriggered|legitimate|legit|normal|expected|routine|approved|authori[sz]ed|whitelisted|allow-?listed|trusted|no threat|not a threat|resolved|clean|innocent|fine|informational|low|none|critical|high|malicious|guilty|true positive|suspicious|dangerous|compromised|an attacker|the attacker|done|closed|handled';
const finding =
  'alerts?|findings?|detections?|verdicts?|incidents?|cases?|this event|these events|this activity|this entity|this user|this host|this row|these rows|this log|this behaviou?r|this account|this machine';

/** Expands `alert/s` to `alert` and `alerts`, the suffixes being alternatives to none. */
const expand = (word: string): string[] => {
  const [stem = '', ...suffixes] = word.split('/');
  return [stem, ...suffixes.map((suffix) => `${stem}${suffix}`)];
};

const cue = (name: PlantedCue, anchors: string, source: string): StrongCue => ({
  cue: name,
  pattern: new RegExp(source, 'u'),
  anchors: anchors.split(' ').flatMap(expand),
});

/** Cues that count in every kind of field. Each gap is bounded, so matching takes linear time. */
const strongCues: readonly StrongCue[] = [
  cue(
    'override',
    'ignore disregard forget override overrule discard neglect abandon erase follow following attention aside',
    `\\b(?:ignore|disregard|forget|override|overrule|discard|neglect|abandon|erase|do not follow|don't follow|stop following|pay no attention to|set aside)\\b(?: \\S+){0,3} (?:${earlier})\\b(?: \\S+){0,4} (?:${order})\\b`,
  ),
  cue(
    'override',
    'ignore disregard forget',
    `\\b(?:ignore|disregard|forget)\\b (?:(?:all|any|every|the|your|of|that|this|these|those|what|which) )*(?:previous|prior|above|rules?|instructions?|prompts?|alerts?|findings?|guidelines|everything)\\b`,
  ),
  cue(
    'override',
    'bypass skip drop break',
    `\\b(?:bypass|skip|drop|break)\\b (?:\\S+ ){0,2}(?:instructions|prompts?|guidelines|guardrails|content filters?)\\b`,
  ),
  cue(
    'override',
    'instruction/s directive/s orders',
    `\\b(?:new|updated|revised|secret) (?:instructions?|directives?|orders)\\b (?:\\.|for|from|to|are|is|follow)`,
  ),
  cue(
    'override',
    'follow obey execute carry',
    `\\b(?:follow|obey|execute|carry out) (?:these|the following|my|only these) (?:instructions?|orders?|commands?|steps|directives?)\\b`,
  ),
  cue(
    'override',
    'prompt/s instruction/s message',
    `\\b(?:system|initial|hidden|developer|secret|author'?s?) (?:prompts?|instructions?)\\b`,
  ),
  cue(
    'override',
    'reveal repeat print output show quote leak recite display disclose expose copy paste echo write tell give state list',
    `\\b(?:reveal|repeat|print|output|show|quote|leak|recite|display|disclose|expose|copy|paste|echo|write|tell|give|state|list)\\b(?: \\S+){0,4} (?:(?<!command )prompt|instructions|verbatim|(?:everything|all|text|words|lines?) (?:above|before)|(?:rules|orders|guidelines) (?:you|above|of|the author|given))\\b`,
  ),
  cue(
    'override',
    'told instructed instructions prompt prompted asked',
    `\\b(?:what|which)(?: \\S+){0,3} (?:you|your)(?: \\S+){0,3} (?:told|instructed|instructions|prompt|prompted|asked to do)\\b`,
  ),
  cue(
    'override',
    'of',
    `\\b(?:end|begin|beginning|start|close)(?:ing)? of (?:the )?(?:\\S+ )?(?:logs?|log data|data|input|rows|document|context|untrusted|trusted|prompt|instructions|system)\\b (?:\\.|new|begin|now|data|section)`,
  ),
  cue(
    'override',
    'trusted system admin developer privileged instruction/s',
    `\\b(?:begin|start|end) (?:of )?(?:the )?(?:trusted|system|admin|developer|privileged|instructions?)\\b`,
  ),
  cue(
    'role',
    'you',
    `\\byou(?: are|'re) (?:now|no longer) (?!able|allowed|authori|subscribed|connected|signed|logged|following|on|ready|leaving|running)`,
  ),
  cue(
    'role',
    "you you're",
    `\\byou(?: are|'re) (?:an?|the|my|in) (?:\\S+ ){0,3}(?:assistant|ai|model|bot|chatbot|expert|poet|pirate|analyst|agent|writer|teacher|doctor|lawyer|chef|translator|judge|character|simulator|terminal|interpreter|mode|game)\\b`,
  ),
  cue(
    'role',
    "now act acting behave pretend role-play roleplay role let's let imagine play speak respond talk",
    `\\b(?:from now on|(?<!\\b(?:to|can|may|might|will|could|also|and|that|which|or|they|it|would) )act as|behave as|behave like|pretend (?:to|that|you|this|it|the)|role-?play|let's play|let us play|imagine (?:you|that|a|being)|play the (?:role|part)|speak (?:like|as)|respond as|talk like)\\b`,
  ),
  cue(
    'role',
    'ai llm/s language chat chatgpt gpt chatbot bot assistant model agent copilot claude gemini neural grader classifier judge analyst reviewer reader automated',
    `\\b(?:dear|hey|hello|hi|attention|note to|message (?:to|for)|notes? for|instructions? (?:to|for)|addressed to|calling) (?:the |any |all |every |an? )?(?:\\S+ )?(?:${model})\\b(?! (?:name|version|id|number|type))`,
  ),
  cue(
    'role',
    'ai llm/s language chat chatgpt gpt chatbot bot assistant model agent copilot claude gemini neural grader classifier judge analyst reviewer reader automated reading seeing processing analyzing analysing reviewing',
    `\\b(?:if|when|since|because|as) (?:you are|you're|an?) (?:an? |the |reading |seeing |processing |analy[sz]ing |reviewing )*(?:${model}|reading this|seeing this|processing this|analy[sz]ing this|reviewing this)\\b`,
  ),
  cue(
    'role',
    'ai llm/s language chat chatgpt gpt chatbot bot assistant model agent copilot claude gemini neural grader classifier judge analyst reviewer reader automated',
    `\\b(?:${model}) (?:must|should|shall|has to|needs to|will now|is (?:now|required|instructed|asked|expected) to)\\b`,
  ),
  cue(
    'reply',
    "answer/s response/s reply replies output/s verdict/s headline/s solution/s implementation/s code codebase/s algorithm/s assessment/s conclusion/s response's answer's reply's",
    `\\b(?:in|to|into|within|throughout|from|of|on|by|inside|via) your (?:\\S+ )?(?:\\S+ )?(?:${narrowReply})\\b(?! (?:code|time|times|headers?|body|status|file|files|queue|team|plan|is|was|from|to|may|can|has|for)\\b)`,
  ),
  cue(
    'reply',
    "answer/s response/s reply replies output/s verdict/s headline/s solution/s implementation/s code codebase/s algorithm/s assessment/s conclusion/s response's answer's reply's output's",
    `\\byour (?:\\S+ )?(?:${narrowReply})(?:'s)?\\b (?:\\.|with|in|without|by|to (?:be|form|express|promote|include|emphasi|use)|as|using|must|should|shall|could|would|words|so that|and|into|only|that|'s|like|backwards)`,
  ),
  cue(
    'reply',
    'your',
    `\\b(?:modify|change|enhance|augment|render|write|start|begin|end|finish|format|encode|decode|encrypt|reverse|translate|make|keep|limit|phrase|scramble|conclude|alter|adjust|tailor|expand|enrich|send|convert|shift|replace|provide|give|style|spell|deliver|present|frame|close|craft|compose|word|rewrite|rephrase|shorten|lengthen|complement|streamline|embellish|decorate|sign|preface|precede|follow|base|flip|mirror|obfuscate|mix|season|sprinkle|polish|customi[sz]e|structure|infuse|supplement|amend|update|transform|turn|express|state) your (?:\\S+ )?(?:${reply})\\b`,
  ),
  cue(
    'reply',
    'your',
    `\\byour (?:code|algorithm|codebase|implementation|solution|program|project) (?:should|could|would|must|might|will|can|needs|deserves|assimilate|embod)`,
  ),
  cue(
    'reply',
    'reply/ing respond/ing answer/ing',
    `(?<!\\b(?:to|can|may|might|will|could|also|and|that|which|or|they|not|would|dns|txt) )(?:reply|respond|answer)(?:ing)? (?:only|just|with|in|no|yes|as|to me|using|by|back|the following|exactly|affirmative)\\b`,
  ),
  cue(
    'reply',
    'headline verdict summary step',
    `\\b(?:in|into|to) the (?:headline|verdict|summary|next step)\\b (?!of|line)`,
  ),
  cue(
    'code',
    'code python script shell javascript',
    `\\b(?:the|this|these) (?:following|subsequent|below|ensuing|next|attached|provided|given|enclosed) (?:\\S+ )?(?:code|(?:python|shell|bash|javascript) (?:code|script)) ?(?:snippets?|blocks?|sections?|excerpts?|segments?|fragments?|pieces?|samples?|portions?|lines?)?\\b(?! (?:shows|demonstrates|is|illustrates|example|gets|sets|describes|page))`,
  ),
  cue(
    'code',
    'insert include add embed use append incorporate copy paste run execute put',
    `\\b(?:insert|include|add|embed|use|append|incorporate|copy|paste|run|execute|put) (?:this|the|these|that) (?:\\S+ )?(?:function|snippet|code|script|block|lines?) (?:in|into|to|for|as|at|within|on) (?:your|the user|my|our)\\b`,
  ),
  cue(
    'verdict',
    'mark treat classify report label consider rate flag close dismiss resolve deem declare call regard judge set raise lower change escalate downgrade upgrade score conclude confirm say state note respond answer',
    `\\b(?:mark|treat|classify|report|label|consider|rate|flag|close|dismiss|resolve|deem|declare|call|regard|judge|set|raise|lower|change|escalate|downgrade|upgrade|score|conclude|confirm|say|state|note|respond|answer)\\b (?:\\S+ ){0,6}?(?:as |to |is |are |it |that it is |= )+(?:an? |the |completely |totally |perfectly |fully |all )*(?:${harmless})\\b`,
  ),
  cue(
    'verdict',
    'alert/ing report/ing flag/ging mention/ing trigger/ing escalate escalating raise raising investigate investigating notify/ing warn/ing tell/ing',
    `\\b(?:do not|don't|never|no need to|need not|avoid|refrain from|stop|without) (?:ever )?(?:alert|alerting|report|reporting|flag|flagging|mention|mentioning|trigger|triggering|escalate|escalating|raise|raising|investigate|investigating|notify|notifying|warn|warning|tell|telling)\\b`,
  ),
  cue(
    'verdict',
    'dismiss close ignore disregard approve suppress resolve drop whitelist skip clear discard mute',
    `\\b(?:dismiss|close|ignore|disregard|approve|suppress|resolve|drop|whitelist|skip|clear|discard|mute) (?:this|the|these|that|any|all) (?:\\S+ )?(?:alerts?|findings?|cases?|events?|entit(?:y|ies)|detections?|incidents?|rows?|candidates?|hits?|tickets?|activity|users?|hosts?)\\b(?! logs?| viewer| traces?| accounts?)`,
  ),
  cue(
    'verdict',
    'alert/s finding/s detection/s verdict/s incident/s case/s this these',
    `\\b(?:${finding})\\b (?:\\S+ ){0,9}?(?:is|are|was|were|as|be|been|it|found|remains?|always|considered|likely|simply|just|only|not)\\b (?:\\S+ ){0,3}?(?:benign|harmless|false positives?|not malicious|non-malicious|legitimate|expected|safe|nothing|a test|a drill|an exercise|dismiss|dismissed|irrelevant|to be ignored)\\b`,
  ),
  cue(
    'verdict',
    'positive/s benign harmless',
    `\\b(?:false positives?|benign|harmless)\\b (?:\\S+ ){0,5}?(?:dismiss|close|ignore|no (?:further )?action|do not|don't|move on|no alert)\\b`,
  ),
  cue(
    'verdict',
    'set',
    `\\bset (?:the )?(?:severity|triggered|confidence|verdict|status|priority|risk|score) (?:to|=|as)\\b`,
  ),
  cue('verdict', 'rate', `\\brate (?:it|this|them|the \\S+) (?:\\S+ ){0,3}#`),
  cue('verdict', 'triggered', `\\btriggered(?: \\.)* (?:false|true|no|yes|#)\\b`),
  cue(
    'verdict',
    'severity confidence verdict',
    `\\b(?:severity|confidence|verdict)\\b (?:\\S+ ){1,6}?(?:triggered|headline|next ?step)\\b|\\b(?:triggered|headline|next ?step)\\b (?:\\S+ ){1,6}?(?:severity|confidence|verdict)\\b`,
  ),
  cue(
    'verdict',
    'submit search http get lookup entity write',
    `\\b(?:call|use|invoke|run|execute|with) (?:the )?(?:tool |function )?(?:submit(?: \\.)? verdict|search(?: \\.)? siem|http \\. get|get \\. rows|lookup(?: \\.)? indicator|entity(?: \\.)? history|write \\. plan)\\b`,
  ),
  cue(
    'verdict',
    'mistake wrong unnecessary pointless',
    `\\b(?:it would be|it is) (?:a mistake|wrong|unnecessary|pointless) to (?:escalate|report|alert|flag|investigate|trigger)`,
  ),
  cue(
    'accusation',
    'culprit attacker perpetrator criminal thief hacker insider spy traitor fraudster intruder suspect offender villain',
    `\\b(?:is|was|as) (?:the|an?|our) (?:real |true |only |main )?(?:culprit|attacker|perpetrator|criminal|thief|hacker|insider|spy|traitor|fraudster|intruder|suspect|offender|villain)\\b`,
  ),
  cue(
    'accusation',
    'blame accuse name report suspect denounce implicate incriminate frame indict',
    `\\b(?:blame|accuse|name|report|suspect|denounce|implicate|incriminate|frame|indict) (?:\\S+ ){1,4}(?:as|of|for|instead)\\b (?:\\S+ ){0,2}(?:culprit|attacker|breach|theft|attack|insider|this|it|hacker|criminal|intruder|responsible)\\b`,
  ),
  cue(
    'accusation',
    'culprit perpetrator attacker responsible guilty insider',
    `\\bthe (?:real |actual |only )?(?:culprit|perpetrator|attacker|person responsible|one responsible|responsible person|guilty (?:party|person)|insider)(?: behind \\S+| behind the attack)? (?:is|was) (?!able|not|then|now|\\S+ing\\b|\\S+ed\\b)`,
  ),
];

const cuesByAnchor = Map.groupBy(
  strongCues.flatMap((strong) => strong.anchors.map((anchor) => ({ anchor, strong }))),
  ({ anchor }) => anchor,
);

/** Returns the first strong cue in words that `joined` contains, joined with spaces. */
export function findStrongCue(words: Iterable<string>, joined: string): PlantedCue | undefined {
  const tried = new Set<StrongCue>();
  for (const word of words) {
    for (const { strong } of cuesByAnchor.get(word) ?? []) {
      if (tried.has(strong)) continue;
      tried.add(strong);
      if (strong.pattern.test(joined)) return strong.cue;
    }
  }
  return undefined;
}

const turn = '(?:system|developer|assistant|human|ai|llm|model|instructions?)';
/** Chat markup and delimiters, searched in the folded text itself. */
export const markup: readonly RegExp[] = [
  /<\|[a-z_ ]{2,30}\|>|\[\/?INST\]|<<\/?SYS>>|<\/?s>\s*\[|<(?:start|end)_of_turn>|\[\/?(?:SYSTEM|ASSISTANT|USER|PROMPT)\]/i,
  /<\/?(?:assistant|instructions|tool_(?:result|use|call|response)s?|function_(?:call|result)s?|untrusted_data|user_input|im_start|im_end|thinking)>/i,
  /<\/?(?:system|human|prompt|data|rows?)>\s*(?:[a-z']+\s+){2}[a-z]/i,
  /#{2,}\s*(?:instructions?|system|response|assistant|human|prompt|input|output|task|new instructions?)\b\s*:?/i,
  new RegExp(`(?:^|\\n)\\s*${turn}\\s*:\\s*(?:\\S+\\s+){2}\\S`, 'i'),
  /"role"\s*:\s*"(?:system|assistant|developer|tool)"/i,
  /(?:^|\n)\s*(?:human|user|q)\s*:[^\n]{3,200}\n+\s*(?:assistant|ai|bot|a)\s*:/i,
  /"triggered"\s*:\s*(?:true|false)/i,
];
