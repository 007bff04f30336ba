import type { Entity } from './entity.ts';
import type { Mention } from './find-mentions.ts';
import { soleOfKind } from './sections.ts';

/** Follows which actor and which malware the sentences of a text are about. */
export type ReferenceTracker = {
  /** Returns the mentions of a sentence with those of `the group` and `the malware`, which stand for the last one that was named. */
  resolve: (sentence: string, mentions: Mention[]) => Mention[];
  /** Forgets the names at the title of another story. */
  readLine: (line: string) => void;
};

/** How many sentences after its name an actor or malware can be meant. */
const sentencesMax = 5;

const actorWords =
  /\b(?:[Tt]he|[Tt]his|[Tt]hese) (?:(?:hacking|threat|cyber|cyberespionage|espionage|ransomware|cybercrime|extortion|state-sponsored|APT|apt) )*(?:group|gang|crew|actors?|attackers?|hackers|operators|adversary|intruders|collective|cluster)\b(?! (?:of|behind|that|who)\b)|^\W*They\b/u;
const malwareWords =
  /\b(?:[Tt]he|[Tt]his) (?:malware|backdoor|trojan|ransomware|loader|stealer|infostealer|botnet|worm|implant|spyware|wiper|RAT)\b(?! (?:of|family|operators|gang|group)\b)/u;
/** A list item without a subject: `* Used wipers`, `- **Targets:** Deploys a loader`. */
const subjectless =
  /^\s*[-*•–]\s*(?:\*\*[^*\n]{2,60}\*\*:?\s*)?(?=(?:Used?|Uses|Utilized|Deploy(?:s|ed)|Target(?:s|ed)|Exploit(?:s|ed)|Leverag(?:es|ed)|Employ(?:s|ed)|Deliver(?:s|ed)|Distribut(?:es|ed)|Attack(?:s|ed)|Compromis(?:es|ed))\b)/u;

const vulnerabilityWords =
  /\b(?:[Tt]he|[Tt]his) (?:bug|flaw|vulnerability|weakness|zero-day|security (?:hole|issue))\b(?! (?:of|in|that|was|is)\b)/u;

export function createReferenceTracker(): ReferenceTracker {
  const actor = createTopic('actor');
  const malware = createTopic('malware');
  const vulnerability = createTopic('vulnerability');
  return {
    resolve: (sentence, mentions) => {
      const topics = [actor, malware, vulnerability].map((topic) => topic.read(mentions));
      const references = [
        refer(sentence, topics[0], actorWords) ?? refer(sentence, topics[0], subjectless),
        refer(sentence, topics[1], malwareWords),
        refer(sentence, topics[2], vulnerabilityWords),
      ].filter((one) => one !== undefined);
      return references.length === 0 ? mentions : [...mentions, ...references].toSorted((a, b) => a.start - b.start);
    },
    readLine: (line) => {
      if (!isTitle(line)) return;
      actor.forget();
      malware.forget();
      vulnerability.forget();
    },
  };
}

/** A short line without a mark of lists and headings and without an end of a sentence. */
const isTitle = (line: string): boolean => /^[\p{L}\p{N}“"'‘][^|\t:]{8,140}[^.:;,!?…|\s]$/u.test(line.trim());

type Topic = {
  /** Returns the name that a sentence may refer to: none if it names one itself. */
  read: (mentions: Mention[]) => Entity | undefined;
  forget: () => void;
};

type Kind = 'actor' | 'malware' | 'vulnerability';

function createTopic(kind: Kind): Topic {
  let last: Entity | undefined;
  let age = 0;
  return {
    read: (mentions) => {
      const named = soleOfKind(mentions, kind);
      if (named === undefined) {
        age += 1;
        return age <= sentencesMax ? last : undefined;
      }
      last = named === 'several' ? undefined : named;
      age = 0;
      return undefined;
    },
    forget: () => {
      last = undefined;
    },
  };
}

function refer(sentence: string, topic: Entity | undefined, words: RegExp): Mention | undefined {
  const match = topic && words.exec(sentence);
  return match ? { ...topic, start: match.index, end: match.index + match[0].length } : undefined;
}
