import { type Entity, type EntityKind, type Mention, withoutAliases } from './find-mentions.ts';
import {
  agent,
  possessed,
  isListGap,
  cues,
  listForeignCues,
  isDoubtful,
  isDoubtfulForeign,
  isPassive,
  isTargetUse,
  objectEnd,
  withoutCompared,
  type Cue,
  type StatedType,
} from './relationship-cues.ts';

export type Statement = { type: StatedType; source: Entity; target: Entity };

const subjectMaxGap = 200;
const objectMaxGap = 100;

/** Returns the relationships that a sentence states between the entities that it mentions. `isForeign`: the text is not in English. */
export function readStatements(sentence: string, mentioned: Mention[], isForeign = false): Statement[] {
  const mentions = withoutAliases(sentence, withoutCompared(sentence, mentioned));
  if (mentions.length < 2 || (isForeign ? isDoubtfulForeign : isDoubtful)(sentence)) return [];
  return (isForeign ? listForeignCues() : cues).flatMap((cue) =>
    [...sentence.matchAll(cue.pattern)].flatMap(({ 0: verb, index }) => {
      const { sources, targets } = readSides(sentence, mentions, { cue, start: index, end: index + verb.length });
      return sources.flatMap((source) =>
        targets
          .filter((target) => target.name !== source.name)
          .map((target) => ({ type: cue.type, source: toEntity(source), target: toEntity(target) })),
      );
    }),
  );
}

const toEntity = ({ kind, name }: Mention): Entity => ({ kind, name });

type Verb = { cue: Cue; start: number; end: number };
type Sides = { sources: Mention[]; targets: Mention[] };

/** Returns what is mentioned as subject and object of a verb. In the passive voice the subject follows: `X was used by Y`. */
function readSides(sentence: string, mentions: Mention[], { cue, start, end }: Verb): Sides {
  const before = mentions.filter((mention) => mention.end <= start);
  const after = mentions.filter((mention) => mention.start >= end);
  if (cue.isNoun) {
    const by = findAgent(sentence, end, cue.agent);
    if (!by) return { sources: [], targets: [] };
    const agentStart = by.index + by[0].length;
    const [agents, objects] = [
      after.filter(({ start: at }) => at >= agentStart),
      after.filter((one) => one.end <= by.index),
    ];
    const isNext = agents[0] && ofAgent.test(sentence.slice(agentStart, agents[0].start));
    return {
      sources: isNext ? listAfter(sentence, agents, { kinds: cue.from, at: agentStart }) : [],
      targets: listAfter(sentence, objects, { kinds: cue.to, at: end }),
    };
  }
  if (cue.isPossession) {
    const [target] = after;
    const isNext = target && cue.to.includes(target.kind) && possessed.test(sentence.slice(end, target.start));
    return {
      sources: before.filter((mention) => cue.from.includes(mention.kind) && mention.end === start),
      targets: isNext ? [target] : [],
    };
  }
  if (cue.isReversed)
    return {
      sources: listAfter(sentence, after, { kinds: cue.from, at: end }),
      targets: listBefore(sentence, before, { kinds: cue.to, at: start }),
    };
  const special =
    readOpening(sentence, after, { cue, start, end }) ??
    readFronted(sentence, after, { cue, start, end }) ??
    readRelative(sentence, before, { cue, start });
  if (special) return special;
  const by = cue.type === 'attributed-to' || cue.hasPassiveSource ? undefined : agent.exec(sentence.slice(end))?.[0];
  if (by !== undefined) {
    const sources = listAfter(sentence, after, { kinds: cue.from, at: end + by.length });
    const targets = listBefore(sentence, before, { kinds: cue.to, at: start });
    return { sources, targets: targets.length > 0 ? targets : listAfterColon(sentence, after, { cue, sources }) };
  }
  if (
    cue.type !== 'attributed-to' &&
    !cue.hasPassiveSource &&
    isPassive(sentence.slice(0, start), sentence.slice(start, end))
  )
    return { sources: [], targets: [] };
  const sources = listSubjects(sentence, before, { cue, start });
  return { sources, targets: sources.length === 0 ? [] : listAfter(sentence, after, { kinds: cue.to, at: end }) };
}

/** Returns what a participle at the beginning of a sentence connects: `Attributed to Foo, the Bar backdoor`, `Used by Foo, Bar`. */
function readOpening(sentence: string, after: Mention[], { cue, start, end }: Verb): Sides | undefined {
  const [agentName, patient] = after;
  if (!agentName || !patient || /\p{L}/u.test(sentence.slice(0, start)) || cue.hasPassiveSource) return undefined;
  const isAttribution = cue.type === 'attributed-to';
  const [agentKinds, patientKinds] = isAttribution ? [cue.to, cue.from] : [cue.from, cue.to];
  const isAgent = isAttribution
    ? sentence.slice(end, agentName.start).length <= subjectReach
    : agent.test(sentence.slice(end));
  const isApposed = /^,["”’]? (?:the |an? )?(?:[\p{L}\d.-]+ ){0,4}["“‘]?$/u.test(
    sentence.slice(agentName.end, patient.start),
  );
  if (!isAgent || !isApposed || !agentKinds.includes(agentName.kind) || !patientKinds.includes(patient.kind))
    return undefined;
  return isAttribution ? { sources: [patient], targets: [agentName] } : { sources: [agentName], targets: [patient] };
}
const subjectReach = 30;

/** Returns what a clause in front of its subject connects: `By exploiting CVE-2026-1234, Foobar gained access`. */
function readFronted(sentence: string, after: Mention[], { cue, start, end }: Verb): Sides | undefined {
  if (
    !/^\W*(?:(?:By|After|Through|While|When) )?$/.test(sentence.slice(0, start)) ||
    !/ing\b/.test(sentence.slice(start, end))
  )
    return undefined;
  const targets = listAfter(sentence, after, { kinds: cue.to, at: end });
  const last = targets.at(-1);
  const subject = last && after.find((mention) => mention.start > last.end && cue.from.includes(mention.kind));
  const isNext = subject && /^[^,;:]{0,60}, (?:[\p{Ll}-]+ ){0,4}["“‘]?$/u.test(sentence.slice(last.end, subject.start));
  return isNext ? { sources: [subject], targets } : undefined;
}

/** Returns the name that a relative clause is about: `Foobar, a backdoor that Bar uses`. */
function readRelative(sentence: string, before: Mention[], { cue, start }: Omit<Verb, 'end'>): Sides | undefined {
  const subject = before.at(-1);
  const object = before.at(-2);
  const isClause =
    cue.type === 'uses' &&
    subject?.kind === 'actor' &&
    object !== undefined &&
    cue.to.includes(object.kind) &&
    auxiliaries.test(sentence.slice(subject.end, start)) &&
    /^["”’]?(?:,? (?:an?|the) [^,;:.]{3,60}?|,)? (?:that|which) (?:the )?["“‘]?$/u.test(
      sentence.slice(object.end, subject.start),
    );
  return isClause ? { sources: [subject], targets: [object] } : undefined;
}

/** The words between the preposition of an agent and its name: `by the Ruritanian group Foobar`. */
const ofAgent = /^ (?:[\p{L}\d’'-]+ ){0,6}["“‘]?$/u;

/** Returns the list after the agent of a passive voice: `Malware used by Foobar: Bar, Baz`. */
function listAfterColon(
  sentence: string,
  after: Mention[],
  { cue, sources }: { cue: Cue; sources: Mention[] },
): Mention[] {
  const at = sources.at(-1)?.end;
  if (at === undefined || sentence[at] !== ':') return [];
  const listed = after.filter(({ start }) => start > at);
  return listAfter(sentence, listed, { kinds: cue.to, at: at + 1 });
}

/** Returns the words before the agent of a noun, after a position: `by`, or what the cue specifies. */
const findAgent = (sentence: string, end: number, pattern = / by\b/g): RegExpExecArray | undefined =>
  [...sentence.matchAll(pattern)].find(({ index }) => index >= end);

/** An actor is the subject even if its malware is mentioned after it, unless the malware is next to the verb. */
function listSubjects(sentence: string, before: Mention[], { cue, start }: Omit<Verb, 'end'>): Mention[] {
  const main = isSubordinate.test(sentence.slice(0, start)) && / ?ing$|ing\b/.test(sentence.slice(start, start + 24));
  if (main && cue.from.includes('actor')) {
    const first = before.findIndex(({ kind }) => kind === 'actor');
    const next = before.findIndex(
      ({ kind, name }, index) => index > first && kind === 'actor' && name !== before[first]!.name,
    );
    if (first >= 0 && next > first && !isListGap(sentence.slice(before[next - 1]!.end, before[next]!.start)))
      return [before[first]!];
  }
  const nearest = before.findLast(({ kind }) => kind === 'actor' || kind === 'malware' || kind === 'tool');
  if (!nearest || hasUnnamedSubject(sentence.slice(nearest.end, start))) return [];
  // `Foo downloads Bar and drops Baz`: the object of the first verb is not the subject of the second.
  if (nearest.kind !== 'actor' && isSecondVerb.test(sentence.slice(nearest.end, start)) && isObject(sentence, nearest))
    return listSubjects(
      sentence,
      before.filter((mention) => mention !== nearest),
      { cue, start },
    );
  // In `used Foobar against banks` and `delivered Foobar to banks in`, the malware beside the preposition is not its subject.
  const isBeside =
    (start - nearest.end <= 2 || auxiliaries.test(sentence.slice(nearest.end, start))) &&
    !/^ ?(?:against|to|at|in|on|across|throughout|inside|within|contre|contra|contro|gegen) /.test(
      sentence.slice(start),
    );
  const isNearestOnly = isBeside || cue.type === 'attributed-to' || !cue.from.includes('actor');
  if (isNearestOnly && !cue.from.includes(nearest.kind)) return [];
  const kinds: EntityKind[] = isNearestOnly
    ? [nearest.kind]
    : before.some(({ kind }) => kind === 'actor')
      ? ['actor']
      : cue.from;
  return listBefore(sentence, before, { kinds, at: start });
}

/** Words between a subject and its verb: `Foobar is aimed at`. */
const auxiliaries = /^ (?:(?:is|was|are|were|has|have|had|been|being|also|\p{L}+ly) ){0,4}$/u;

/** Returns whether another subject without a name stands between a name and a verb: `On the day of Foobar, another wiper attacked`. */
const hasUnnamedSubject = (gap: string): boolean => !isJoined.test(gap) && unnamedSubject.test(gap.slice(-100));
const isJoined = /^,? (?:and|or|as well as) /;
const unnamedSubject =
  /(?:^|[\s,;])(?:another|an? (?:second|third|different|separate|unrelated|unknown)|other|different) (?:[\p{L}-]+ ){0,3}?(?:groups?|gangs?|crews?|actors?|hackers|attackers|campaigns?|malware|wipers?|backdoors?|trojans?|ransomware|loaders?|botnets?|famil(?:y|ies)|strains?) (?:(?:has|have|had|was|were|also|\p{L}+ly) ){0,3}$/u;

const isSecondVerb =
  /^(?: \w+)?,? (?:and|then|before|to)(?: \w+ly| then| also)? $|^[^,;:]{0,60} (?:before|after|while|by) $/;
const isObject = (sentence: string, { start }: Mention): boolean =>
  /\b(?:use|using|deploy|drop|deliver|download|load|install|launch|execut|leverag|employ|distribut)\w*(?: the| an?| its| their)?(?: (?!to\b|and\b)[\w-]+){0,2} ["“‘]?$/i.test(
    sentence.slice(Math.max(0, start - 48), start),
  );

/** `Foobar steals files while targeting` */
const simultaneous = / while $/;

/** `Foobar Ransomware: Using …`, `CVE-2026-1234: A flaw …` */
const label = /^(?: \p{L}+){0,2}: /u;

/** `Foobar received access from Barfoo, before deploying` */
const isSubordinate = /\b(?:before|after|while) $/;

/** `A backdoor that Example Labs calls Foobar` */
const publisher =
  /\b(?:that|which) (?:we|they|it|researchers|analysts|\p{Lu}[\p{L}\d]*(?: \p{Lu}[\p{L}\d]*){0,3}) (?:calls?|named?|names|dubbed|tracks? as|refers? to as) ["“‘]?$/u;

type Side = { kinds: EntityKind[]; at: number };

/** Returns the last mention of these kinds before a position, with those that form a list with it. */
function listBefore(sentence: string, before: Mention[], { kinds, at }: Side): Mention[] {
  const list: Mention[] = [];
  let edge = at;
  for (const mention of before.toReversed()) {
    if (!kinds.includes(mention.kind) || !isTargetUse(sentence, mention)) {
      if (list.length > 0) break;
      continue;
    }
    const gap = sentence.slice(mention.end, edge).replace(label, '').replace(simultaneous, ' ');
    const isLinked =
      list.length === 0
        ? gap.length <= subjectMaxGap && !/[;:!?]|\b(?:while|whereas|but(?! (?:also|then|later)\b))\b/i.test(gap)
        : gap === '' || isListGap(gap);
    if (!isLinked) break;
    list.push(mention);
    edge = mention.start;
  }
  return list;
}

/** Returns the first mention after a position, with those that form a list with it, if it is of these kinds. */
function listAfter(sentence: string, after: Mention[], { kinds, at }: Side): Mention[] {
  const isTargets = kinds.includes('sector');
  const list: Mention[] = [];
  let edge = at;
  for (const mention of after) {
    const isPlace = mention.kind === 'sector' || mention.kind === 'country';
    if (!kinds.includes(mention.kind)) {
      if (isPlace && list.length === 0) continue;
      break;
    }
    if (!isTargetUse(sentence, mention)) continue;
    const gap = sentence.slice(edge, mention.start).replace(publisher, '');
    const isLinked =
      list.length === 0 || isTargets
        ? gap.length <= objectMaxGap && !objectEnd.test(gap)
        : gap === '' || isListGap(gap);
    if (!isLinked) break;
    list.push(mention);
    edge = mention.end;
  }
  return list;
}
