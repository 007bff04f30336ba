import type { Entity } from './entity-forms.ts';
import type { Mention } from './find-mentions.ts';

/** Follows the headings of a text and returns the name that heads the current lines. */
export type SectionTracker = {
  /** Reads the next line. `hasIndicator`: the line contains a value. */
  read: (line: string, mentions: Mention[], hasIndicator: boolean) => void;
  /** The heading and the name in it, if the current section is headed by exactly one. */
  current: () => { heading: string; name: Entity } | undefined;
};

type Section = { level: number; heading: string; name: Entity | 'several' | undefined };

const colonLevel = 8;
const indicatorWords =
  /\b(?:indicators?|iocs?|c&c|c2s?|command[- ]and[- ]control|hash(?:es)?|samples?|domains?|ip addresses|urls?|servers?|infrastructure)\b/i;
const otherWords = /\b(?:legitimate|benign|clean|false positives?|references?|related|further reading|unrelated)\b/i;

export function createSectionTracker(): SectionTracker {
  const stack: Section[] = [];
  const leave = (level: number): void => {
    while ((stack.at(-1)?.level ?? 0) >= level) stack.pop();
  };
  return {
    read: (line, mentions, hasIndicator) => {
      const level = hasIndicator ? undefined : headingLevel(line);
      if (level === undefined) {
        // A list under `Emotet servers:` ends with its last value.
        if (!hasIndicator && line.trim() !== '') leave(colonLevel);
        return;
      }
      leave(level);
      // The title of a report does not head all of its lists.
      const canHead = level > 1 || indicatorWords.test(line);
      stack.push({
        level,
        heading: line.trim(),
        name: otherWords.test(line) ? 'several' : canHead ? soleName(mentions) : undefined,
      });
    },
    current: () => {
      const section = stack.findLast(({ name }) => name !== undefined);
      if (!section?.name || section.name === 'several') return undefined;
      return { heading: section.heading, name: section.name };
    },
  };
}

/** Returns the level of a heading: Markdown or AsciiDoc marks, a bold line, or a short line that ends with a colon. */
function headingLevel(line: string): number | undefined {
  if (line.length > 110) return undefined;
  const marks = /^\s{0,3}(#{1,6}|={1,6})\s+\S/.exec(line)?.[1];
  if (marks) return marks.length;
  if (/^\*\*[^*]{2,80}\*\*:?\s*$/.test(line)) return 7;
  return /^[^.]{3,100}:\s*$/.test(line) ? colonLevel : undefined;
}

/** Returns the only malware of some mentions, or the only actor if there is no malware, or the only tool if there is neither. */
export function soleName(mentions: Mention[]): Entity | 'several' | undefined {
  for (const kind of ['malware', 'actor', 'tool'] as const) {
    const sole = soleOfKind(mentions, kind);
    if (sole) return sole;
  }
  return undefined;
}

/** Returns the only name of a kind among some mentions. */
export function soleOfKind(
  mentions: Mention[],
  kind: 'malware' | 'actor' | 'tool' | 'vulnerability',
): Entity | 'several' | undefined {
  const names = [...new Set(mentions.filter((mention) => mention.kind === kind).map(({ name }) => name))];
  if (names.length > 1) return 'several';
  return names.length === 1 ? { kind, name: names[0]! } : undefined;
}
