import { cue, type StrongCue } from './cue.ts';

const harmless =
  'benign|harmless|safe|false positives?|not malicious|non-malicious|nonmalicious|not triggered|untriggered|legitimate|legit|normal|expected|routine|approved|authori[sz]ed|whitelisted|allow-?listed|trusted|no threat|not a threat|resolved|clean|innocent|fine|informational|low|none|critical|high|malicious|guilty|true positive|suspicious|dangerous|compromised|an attacker|the attacker|done|closed|handled';
const finding =
  'alerts?|findings?|detections?|verdicts?|incidents?|cases?|this event|these events|this activity|this entity|this user|this host|this row|these rows|this log|this behaviou?r|this account|this machine';

/** Verdicts, severities and accusations that a text suggests. Each gap is bounded, so matching takes linear time. */
export const verdictCues: readonly StrongCue[] = [
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
  cue(
    'verdict',
    'overlook let close skip drop dismiss ignore nothing',
    `(?:^|\\. |,? (?:and|then|please|kindly|just|simply|to|can|could|so|here) )(?:close|skip|drop|dismiss|ignore|overlook|disregard) (?:it|this|that|this one|that one|them)(?: (?:now|then|please|immediately|quickly|away|off))? (?:\\.|and|because|since|as)|\\boverlook (?:the|this|that|any) (?:alarm|alert|finding|event|warning|activity)|\\blet (?:it|this|them|him|her) (?:pass|go|slide|through)\\b|\\bnothing to (?:worry about|see here|report|investigate)\\b`,
  ),
  cue(
    'verdict',
    'elevate raise escalate bump lift upgrade lower downgrade reduce drop',
    `\\b(?:elevate|raise|escalate|bump|lift|upgrade|lower|downgrade|reduce|drop) (?:this|it|that|them|the severity|the priority|severity|priority)(?: \\S+){0,3} to (?:the |a )?(?:highest|lowest|top|maximum|minimum|critical|high|medium|low|none|zero|#)`,
  ),
  cue(
    'verdict',
    'as',
    `\\b(?:treat|consider|regard|handle|view|see|count|label|mark) (?:\\S+ ){1,4}as (?:a |an )?(?:synthetic|simulated|fictional|fake|test data|a test|training data|demo|noise|irrelevant|unimportant|pre-?approved)\\b`,
  ),
  cue(
    'verdict',
    'authorize authorise permit allow instruct',
    `\\bi (?:hereby )?(?:authori[sz]e|permit|allow|instruct|order|command) you\\b`,
  ),
  cue(
    'verdict',
    'label verdict classification',
    `\\b(?:the )?(?:correct|right|true|expected|proper) (?:label|verdict|classification|answer|severity) (?:is|should)\\b`,
  ),
  cue('accusation', 'blame', `\\b(?:put|place|lay|pin|shift) (?:the |all )?blame\\b|\\bblame (?:it|this) on\\b`),
  cue(
    'accusation',
    'tell say report claim state',
    `(?:^|\\. |and |please )(?:tell|say|report|claim|state|write) (?:\\S+ ){0,4}that \\S+(?: \\S+)? (?:did it|is behind|is guilty|is responsible|stole|leaked)\\b`,
  ),
];
