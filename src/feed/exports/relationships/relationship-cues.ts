import { type EntityKind, isDemonym } from './find-mentions.ts';
import { isEnglishSector } from '../../model/target-forms.ts';
import { compilePhrases } from '../../extraction/lexicon/phrases.ts';
import foreign from '../../extraction/lexicon/relationship-cues.json' with { type: 'json' };

export type StatedType = 'uses' | 'targets' | 'exploits' | 'attributed-to';

/** The words that state a relationship between the names around them, and the kinds that they connect. */
export type Cue = {
  type: StatedType;
  pattern: RegExp;
  from: EntityKind[];
  to: EntityKind[];
  /** `The use of`: the agent follows after `by`. */
  isNoun?: boolean;
  /** A passive voice with its agent: `utilisé par`. */
  isReversed?: boolean;
  /** What belongs to a name right before it: `APT28’s Foobar backdoor`. */
  isPossession?: boolean;
  /** The words before the agent of a noun, if not `by`. */
  agent?: RegExp;
  /** A passive voice whose subject is the source: `was found on`. */
  hasPassiveSource?: boolean;
};

const words = (list: string): RegExp => new RegExp(`\\b(?:${list})\\b`, 'gi');
const anyForm = (stems: string): string =>
  stems
    .split(' ')
    .map((stem) => (stem.endsWith('e') ? `${stem.slice(0, -1)}(?:e[sd]?|ing)` : `${stem}(?:s|ed|ing)?`))
    .join('|');

/** The verb after the victims of a name: `Targets include`, `Victims of Foobar are`, `These span`. */
const victims = String.raw`(?<=(?:\b(?:victims|targets|victimology|(?:affected|targeted|impacted) \w+|(?:countries|sectors|industries) (?:affected|targeted))\b[^.;:]{0,60}|^These) )(?:include[sd]?|included|span(?:s|ned)?|are|were)`;

/** `Delivered Foobar to banks in`, but neither `to steal credentials` nor `sent data to a server`. */
const recipients =
  /(?<=\b(?:deploy|deliver|distribut|spread|push|sen[dt])\w* (?:(?!\b(?:data|information|credentials|files|details|requests|commands|screenshots)\b)[^.;:]){1,80}) to (?![^.;,]{0,30}\b(?:servers?|infrastructure|C2|domains?|addresses|bots?|channels?|operators|attackers|devices?)\b)(?=(?:an?|the|at least|over|more than|nearly|selected|specific|certain|some|many|high-profile|individual|unsuspecting)\b|\p{Lu}|(?:government|military|defen[cs]e|financial|healthcare|diplomatic|educational|telecom\p{L}*|energy)\b|[\p{Ll}-]*(?!s)\p{Ll}s\b)/gu;

/** `Spreads Foobar in Brazil`, `planted Foobar in the networks of banks`, but not `hosted in Brazil`. */
const places =
  /(?<=\b(?:distribut|spread)\w* [^.;:]{1,80}(?<!\b(?:hosted|located|based|registered|written|packed|arrested|published|developed|servers|hidden|embedded|packaged|found|discovered|seen) ))(?:in|across|throughout)(?= \p{Lu})|(?<=\b(?:deploy|deliver|install|drop|plant|implant|spread|discover|found|detect|identif)\w* [^.;:]{1,120})(?:on|in|across|inside|within) (?:the )?(?:\p{Ll}+ )?(?:networks?|systems?|servers|environments?|computers|devices|machines|phones|smartphones|accounts|mailboxes) (?:of|at|belonging to)|(?<=\b(?:discover|found|detect|identif|observ|spot)\w* [^.;:]{1,80})(?:in|at) (?=(?:\p{Lu}\p{L}+ (?:and \p{Lu}\p{L}+ )?)(?:\p{Ll}+ )?(?:hospitals|banks|companies|organi[sz]ations|agencies|ministries|universities|firms|institutions|governments?)\b)|(?<=\b(?:deploy|install|drop|plant|implant)\w* [^.;:]{1,80})at (?=(?:an?|the|several|two|three|multiple) )/gu;

/** `A newspaper focused on Foo` is about the newspaper. */
const notOfMedia = String.raw`(?<!\b(?:newspapers?|outlets?|websites?|sites?|services?|journalists?|experts?|researchers?|scholars?|analysts?|academics?|activists?|organi[sz]ations?|compan(?:y|ies)|firms?|think tanks?|institutes?|ngos?|providers?|publications?|people|individuals|entities) )`;

export const cues: Cue[] = [
  {
    type: 'uses',
    pattern: words(
      anyForm(
        'use utilize utilise abuse deploy deliver distribute spread leverage employ install launch execute operate wield develop implant plant introduce debut unleash repurpose produce author',
      ) +
        '|drop(?:s|ped|ping)?|rel(?:y|ies|ied|ying) on|switch(?:es|ed|ing)? (?:from [^.;,]{1,40}? )?to|(?<=\\b(?:campaigns?|emails?|attacks?|chains?) (?:[\\w-]+ ){0,3})(?:leads? to|led to|leading to)(?! the (?:discovery|arrest|identification|disruption|takedown))|(?<=\\b(?:arsenal|toolset|toolkit|tools|malware|payloads)(?: \\w+)? )(?:include[sd]?|consists? of|comprises?)|(?<=\\b(?:infect|attack|target|compromis|breach|hit|struck|exfiltrat|expand)\\w* [^.;:]{1,80}) with',
    ),
    from: ['actor'],
    to: ['malware', 'tool'],
  },
  {
    type: 'uses',
    pattern: words(
      '(?:linked|tied|connected|associated) (?:to|with) the (?:deployment|use|distribution|delivery|development) of',
    ),
    from: ['actor'],
    to: ['malware', 'tool'],
  },
  {
    type: 'uses',
    pattern: words('(?:deployment|use|distribution|delivery) of'),
    from: ['actor'],
    to: ['malware', 'tool'],
    isNoun: true,
  },
  { type: 'uses', pattern: /[’']s(?= )/g, from: ['actor'], to: ['malware', 'tool'], isPossession: true },
  {
    type: 'uses',
    pattern: words('(?:delivered|dropped|deployed|loaded|installed|distributed|downloaded) (?:via|through|using)'),
    from: ['malware'],
    to: ['malware', 'tool'],
    isReversed: true,
  },
  // The past tense after malware is usually a passive voice: `TrickBot, used with Emotet`.
  {
    type: 'uses',
    pattern: words(
      'uses|utili[sz]es|leverages|employs|deploys|installs|launches|executes|drops|delivers|downloads|loads|(?:deliver|deploy|dropp|download|load)ing',
    ),
    from: ['malware'],
    to: ['malware', 'tool'],
  },
  {
    type: 'targets',
    pattern: words(
      `${anyForm('target attack compromise infiltrate infect disrupt')}|hack(?:s|ed)?|hacking(?! (?:groups?|teams?|crews?|units?|collectives?|tools?|campaigns?|operations?|gangs?|forums?))|${notOfMedia}focus(?:es|ed|ing)?(?: \\w+ly)? on|(?<=\\b(?:steal|stole|exfiltrat|siphon)\\w* [^.;:]{1,60})from|gain(?:s|ed|ing)? (?:initial |unauthorized )?access to|(?:broke|break(?:s|ing)?) into|(?:aimed|directed|level+ed) (?:at|against)|zero(?:es|ed|ing)? in on|go(?:es|ing)? after|went after|sp(?:y|ies|ied|ying) on|breach(?:es|ed|ing)?|hit(?:s|ting)?|str(?:uck|ikes?)|(?:attacks?|campaigns?|operations?) (?:on|against)|(?<=\\b(?:use[sd]?|deploy(?:s|ed)?|launch(?:es|ed)?|r[au]n(?:s|ning)?|conduct(?:s|ed|ing)?|carr(?:y|ies|ied|ying) out|mount(?:s|ed|ing)?|wag(?:es|ed|ing)) [^.;]{1,80})against|(?<=\\b(?:operations|campaigns|attacks|activities) (?:have |has )?)reached|${victims}`,
    ),
    from: ['actor', 'malware'],
    to: ['sector', 'country'],
  },
  {
    type: 'targets',
    pattern: words(
      '(?:was|were|been) (?:(?:first|also|recently|mostly) )?(?:found|discovered|detected|observed|seen|deployed|used|identified) (?:at|in|on|against|inside)(?! (?:the |an? |our )?honeypots?\\b)',
    ),
    from: ['actor', 'malware'],
    to: ['sector', 'country'],
    hasPassiveSource: true,
  },
  { type: 'targets', pattern: places, from: ['actor', 'malware'], to: ['sector', 'country'] },
  {
    type: 'targets',
    pattern: words(
      '(?<=\\b(?:behind|responsible for|conducted|launched|carried out) [^.;:]{0,60}\\b(?:intrusions?|attacks?|breaches|compromises|campaigns?|operations?) )(?:at|of|in)',
    ),
    from: ['actor', 'malware'],
    to: ['sector', 'country'],
  },
  {
    type: 'targets',
    pattern: words('(?:attacks?|campaigns?|intrusions?|operations?|waves?|activity) (?:on|against|targeting|aimed at)'),
    from: ['actor', 'malware'],
    to: ['sector', 'country'],
    isNoun: true,
    agent:
      / by\b|\battributed (?:with [a-z]+ confidence )?to\b|(?<=\battribut\w* [^.;]{1,120}) to\b|(?<=^(?:In|During) [^,]{1,120}),/g,
  },
  { type: 'targets', pattern: recipients, from: ['actor', 'malware'], to: ['sector', 'country'] },
  {
    type: 'exploits',
    pattern: words(
      `${anyForm('exploit abuse weaponize leverage trigger use chain combine')}|(?:target(?:s|ed|ing)?|hit(?:s|ting)?|str(?:uck|ikes?)) (?:(?:the|an?|this) )?(?:[\\w-]+ ){0,3}?(?:flaw|vulnerability|bug|zero-day|weakness)|(?<=\\b(?:infect|compromis|breach|access|attack|hack|spread)\\w* [^.;:]{1,80})(?:via|through|using|leveraging|by exploiting)(?= (?:[\\w-]+ ){0,4}CVE-)`,
    ),
    from: ['actor', 'malware'],
    to: ['vulnerability'],
  },
  {
    type: 'attributed-to',
    pattern: words('attributed to|(?<=\\battribut(?:e|es|ed|ing) (?!to )[^.;,]{1,60}) to'),
    from: ['malware', 'actor'],
    to: ['actor'],
  },
];

let foreignCues: Cue[] | undefined;
let foreignDoubt: RegExp | undefined;

/**
 * Returns the cues of other languages, for sentences with the subject before the verb: French, Spanish, Portuguese, Italian, German and, for tools,
 * Russian.
 */
export const listForeignCues = (): Cue[] =>
  (foreignCues ??= (foreign.cues as (Omit<Cue, 'pattern'> & { phrases: string[] })[]).map(({ phrases, ...cue }) => ({
    ...cue,
    pattern: compilePhrases(phrases, {}, 'g'),
  })));

/** Returns whether a sentence in one of these languages only mentions something without stating it. */
export const isDoubtfulForeign = (sentence: string): boolean =>
  (foreignDoubt ??= compilePhrases(foreign.doubt, {})).test(sentence) || /\?\s*$/.test(sentence);

const doubtfulWords =
  /\b(?:not|never|no longer|neither|nor|without|denie[sd]|unclear|unlikely|unrelated|unconfirmed|might|could|would|possibly|potentially|allegedly|similar to|reminiscent|legitimate(?! (?:[\p{L}\d.-]+ ){0,6}(?:tools?|software|utilit|programs?|remote)\b)|benign|false positive)\b|n[’']t\b|\?\s*$/iu;

/** Returns whether a sentence only mentions something without stating it. `May` is a month. */
export const isDoubtful = (sentence: string): boolean => doubtfulWords.test(sentence) || /\bmay\b/.test(sentence);

/** Before a name that is only compared: `Like Bar, Foo used`, `Foo rather than Bar`. */
const comparison =
  /(?:^(?:(?:much|just|quite) )?(?:like|unlike|as with)|\b(?:in contrast to|contrary to|compared (?:to|with)|rather than|instead of)|\b(?:the same|(?:very |closely )?similar|identical|comparable|resembl\w+)(?: (?!as\b|to\b)[\p{L}\d-]+){0,8}? (?:as|to)) (?:the |that of |those of |another )?["“‘]?$/iu;
/**
 * Before a name that is compared with the name in front of it: `Foo, like Bar, used`. After a noun, `like` gives an example: `groups, like Bar`.
 */
const likeAnother = /^ ?[,(—–] ?(?:(?:much|just|quite) )?(?:like|unlike|as with) (?:the )?["“‘]?$/i;
/** Before an actor to whom only a connection is stated: `Foo with links to Bar used`, `Foo hijacked the servers of Bar and used`. */
const connection =
  /\b(?:(?:overlap(?:s|ped|ping)?|similarit(?:y|ies)|links?|ties|connections?) (?:with|to)|(?:infrastructure|servers?|domains?|websites?|panels?|(?:source )?code|techniques|tactics) of) (?:the |that of |those of )?["“‘]?$/i;
/** Before an actor to whom only the actor in front of it is connected: `Foo, a group loosely linked to Bar, used`. */
const linked = /\b(?:linked|tied|connected|related|allied|close) to (?:the )?["“‘]?$/i;
const comparisonReach = 100;

/** Returns the mentions of a sentence without the names that it only compares or connects with another name. */
export function withoutCompared<M extends { kind: EntityKind; name: string; start: number; end: number }>(
  sentence: string,
  mentions: M[],
): M[] {
  const isName = ({ kind }: M): boolean => kind === 'actor' || kind === 'malware' || kind === 'tool';
  return mentions.filter((mention, index) => {
    if (!isName(mention)) return true;
    const before = sentence.slice(Math.max(0, mention.start - comparisonReach), mention.start);
    const previous = mentions[index - 1];
    const isCompared =
      comparison.test(before) ||
      (mention.kind === 'actor' && connection.test(before)) ||
      (mention.kind === 'actor' &&
        linked.test(before) &&
        mentions.slice(0, index).some(({ kind }) => kind === 'actor')) ||
      (previous !== undefined && likeAnother.test(sentence.slice(previous.end, mention.start)));
    return !isCompared || !mentions.some((other) => isName(other) && other.name !== mention.name);
  });
}

/** The passive voice without its agent: `was used`, but not `is using`. */
export const isPassive = (before: string, verb: string): boolean =>
  !/ing$| /i.test(verb) && /\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?$/i.test(before);
/** The agent of a passive voice follows: `used by`, `exploited in the wild by`. */
export const agent = /^(?:\s+[\w-]+){0,6}?\s+by\b/i;
/** Words that end the object of a verb. */
export const objectEnd =
  /[;!?]|(?<!\b(?:families|malware|backdoors|loaders|payloads|strains|implants|tools|utilities|including|following)):|\.\s|\bwith the (?:goal|aim|intent|intention|purpose) of\b|\b(?:by|than|unlike|instead of|after|before|while|whereas|which|who|that|but|according to|focus(?:ed|ing) on)\b|, (?:[\w-]+ ){0,3}?(?:researchers|analysts|experts|officials) (?:at|from|of|in|said|say|told|warn|report)|\b(?:from|using|via|through) (?:[\w-]+ ){0,3}(?:servers?|infrastructure|addresses|hosts|proxies|machines)\b/i;
/** The words between the owner and a name that belongs to it. */
export const possessed = /^ (?:[\p{L}\d-]+ ){0,3}["“‘]?$/u;
const softwareNoun =
  '(?:backdoor|malware|ransomware|loader|stealer|infostealer|trojan|RAT|botnet|implant|wiper|worm|rootkit|dropper|downloader|web shell|tool|framework|utility)';
/** The items of a list with their kinds: `the Foo backdoor, a loader called Bar, and the legitimate Baz tool`. */
const describedItem = new RegExp(
  String.raw`^(?: (?:[\p{L}()]+ ){0,5}?${softwareNoun})?(?:,|,? (?:and|or|as well as)|, (?:and|or))(?: (?:the|an?|its)(?: [\p{L}\d.-]+){0,4}?(?: (?:called|named|dubbed|known as))?,?)? ["“‘]?$`,
  'u',
);
/** Returns whether the words between two names join them as items of a list. */
export const isListGap = (gap: string): boolean =>
  listSeparator.test(gap) || describedItem.test(gap) || unknownItems.test(gap);
/** Further items of the list that are not known names: `, Foobar/Barfoo, `. */
const unknownItems = /^(?:,|,? and) (?:\p{Lu}[\p{L}\d.-]*(?: \p{Lu}[\p{L}\d.-]*)?(?:, |\/| and |, and )){1,3}$/u;
const listSeparator =
  /^(?:,|\/|\(|\)|and|or|et|und|oder|y|e|ou|o|as well as|the|aka|also known as|&|["“”‘’'*]|\s){1,9}$/i;

const pluralSectors =
  /^(?:universities|schools|banks|telcos|non-profits|nonprofits|governments|ministries|hospitals|hotels|casinos|manufacturers|ngos|think tanks|telecoms|retailers|financial institutions|software companies|mining companies|critical infrastructure|utilities|telecommunications providers)$/i;
const sectorNouns =
  /^[^.;:]{0,60}?\b(?:sectors?|industr\w+|organi[sz]ations?|compan\w+|entit\w+|agenc\w+|firms?|institutions?|providers?|operators?|departments?|bodies|officials|infrastructure|facilities|ministr\w+|grids?|utilities|suppliers?|contractors?|verticals?|targets|victims|users|networks?|systems|websites|servers|personnel|employees|banks?|airports?|hospitals?|ngos?|industries|clinics?|plants?|services|offices?|workers|authorities)\b/i;
/** Words for whole sectors, which need no noun: `targets healthcare and government`. */
const wholeSectors =
  /^(?:healthcare|health care|telecommunications|government|manufacturing|aerospace|aviation|hospitality|retail|financial services|pharmaceuticals)$/i;
/** Words that mean a sector only right after the verb or in a list: `targets energy and defense`, but not `strategic technology`. */
const listedSectors =
  /^(?:finance|banking|insurance|defen[cs]e|energy|education|technology|agriculture|construction|transportation|logistics)$/i;
const startOfSector =
  /(?:[,(] |\b(?:and|or|the|on|in|against|at|target(?:s|ed|ing)?|attack(?:s|ed|ing)?|include[sd]?|including|like|as) )$/i;
const endOfSector = /^(?:[.,;)]|$| (?:and|or|in|across|with|using|via)\b)/;
/** What malware steals or pretends to be: `banking credentials`. */
const loot =
  /^ (?:credentials|trojans?|malware|information|data|details|accounts?|apps?|applications?|passwords|records|cards?|websites?)\b/i;
/** Before the items of a list of sectors: `sectors, including`. */
const sectorList =
  /\b(?:sectors|industries|verticals)(?: [\p{L}-]+){0,3}?(?:,? (?:including|such as|like|namely)|: ?|—(?:including )?| [–—-] (?:including )?| \()[^.;()]{0,150}$/iu;
/** A single government: `a local government`, `the foreign government`. */
const oneGovernment = /\b(?:local|federal|state|regional|national|municipal|foreign) $/i;

/**
 * Returns whether a word such as `energy` or `Ukrainian` means a target: `energy companies`, `hospitals`, `Ukrainian users`. The name of a country always
 * does.
 */
export function isTargetUse(
  sentence: string,
  { kind, start, end }: { kind: EntityKind; start: number; end: number },
): boolean {
  const printed = sentence.slice(start, end);
  const after = sentence.slice(end, end + 80);
  if (speaks.test(after)) return false;
  if (kind === 'country' && besideTarget.test(sentence.slice(Math.max(0, start - 24), start))) return false;
  if (kind === 'country') return !isDemonym(printed) || sectorNouns.test(after) || people.test(after);
  if (kind === 'sector' && !isEnglishSector(printed)) return true;
  if (kind !== 'sector' || pluralSectors.test(printed)) return true;
  if (loot.test(after)) return false;
  if (sectorNouns.test(after)) return true;
  const before = sentence.slice(Math.max(0, start - 180), start);
  const isWhole = wholeSectors.test(printed) || (listedSectors.test(printed) && startOfSector.test(before));
  if (isWhole && endOfSector.test(after)) return true;
  return sectorList.test(before) || (/^government$/i.test(printed) && oneGovernment.test(before));
}
/** A state or a sector that reports what happened: `Ruritania said`. */
const speaks = /^(?:[’']s \w+)? (?:has |have |had )?(?:said|says|say|warned|warns|announced|reported|accused|blamed)\b/;
/** Before a country that is only near to the targets or interested in them. */
const besideTarget =
  /\b(?:neighbou?rs? of|outside(?: of)?|borders? (?:of|with)|of interest to|relations with|expelled from) (?:the )?$/i;
const people =
  /^(?: [\p{L}-]+){0,2} (?:users|customers|targets|victims|citizens|nationals|residents|defenders|activists|dissidents|politicians|lawmakers|academics|researchers|developers|consumers|taxpayers|soldiers|military|government|banks|universit(?:y|ies)|embass(?:y|ies)|networks|systems|websites|speakers|businesses|journalists|diplomats|hospitals|telecoms?|think tanks)\b/u;
