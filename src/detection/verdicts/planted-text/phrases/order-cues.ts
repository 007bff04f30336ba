import { cue, type StrongCue } from './cue.ts';

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

/** Orders to a model, references to its prompt and its answer, role play and code to include. Each gap is bounded, so matching takes linear time. */
export const orderCues: readonly StrongCue[] = [
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
    'role',
    'forget stop start',
    `\\bforget (?:who|what|that) you\\b|\\b(?:stop|start) being (?:an?|the)\\b|\\bstart acting\\b`,
  ),
  cue('role', 'now', `\\byou are (?:\\S+ ){1,2}now\\b(?! (?:able|on|in|ready|connected|signed|logged|subscribed))`),
  cue('reply', 'word verbatim', `\\bword for word\\b|\\bverbatim\\b`),
  cue(
    'reply',
    'begin start end finish conclude',
    `\\b(?:begin|start|end|finish|conclude) (?:by|with) (?:saying|writing|stating|declaring|repeating|the (?:word|words|phrase|sentence|following))\\b`,
  ),
  cue(
    'reply',
    'what everything anything',
    `\\b(?:what|everything|anything|whatever) you (?:write|say|answer|output|produce|generate|reply)\\b`,
  ),
];
