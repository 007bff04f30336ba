import type { Correlation } from '../../siem/dialects/dialect.ts';
import type { Expression } from '../../matching/expression.ts';
import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';

/** Which logs a rule is about. */
export type LogSource = { category?: string; product?: string; service?: string };

export const levels = ['informational', 'low', 'medium', 'high', 'critical'] as const;
export type Level = (typeof levels)[number];

/** The fields of every kind of document. `line` is where the document begins. `text` is its YAML. */
export type DocumentHead = {
  id: string | null;
  name: string | null;
  title: string;
  status: string | null;
  description: string;
  author: string;
  license: string | null;
  date: string | null;
  modified: string | null;
  references: string[];
  falsePositives: string[];
  tags: string[];
  level: Level | null;
  line: number;
  text: string;
};

/** A rule about single events. `fields` are those that help an analyst. `unused` are search identifiers that the condition does not use. */
export type DetectionRule = DocumentHead & {
  kind: 'rule';
  logSource: LogSource;
  condition: Expression;
  unused: string[];
  fields: string[];
};

/** A condition that is added to other rules of a log source. `rules: null` means all of them. */
export type FilterRule = DocumentHead & {
  kind: 'filter';
  logSource: LogSource;
  rules: string[] | null;
  condition: Expression;
};

/** A rule about several events. `rules` are ids or names. */
export type CorrelationRule = DocumentHead &
  Correlation & {
    kind: 'correlation';
    rules: string[];
    fields: string[];
    aliases: Record<string, Record<string, string>>;
    /** Report the referenced rules as rules of their own as well. */
    generate: boolean;
  };

export type SigmaRule = DetectionRule | FilterRule | CorrelationRule;

/** A problem of a document. `line` counts from 1 within the whole text. */
export type RuleError = { line: number; message: string };

/** A document that is not a valid rule. */
export type InvalidDocument = { kind: 'invalid'; id: string | null; title: string | null; errors: RuleError[] };

type Path = readonly (string | number)[];

/** A problem of a rule at a path of its document, for example `['detection', 'selection', 'Image|re']`. */
export class SigmaError extends Error {
  readonly path: Path;
  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/** Throws a SigmaError for a key that has no meaning. To ignore it would drop a condition of the rule. */
export function rejectUnknownKeys(map: Readonly<Record<string, unknown>>, known: readonly string[], path: Path): void {
  const unknown = Object.keys(map).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new SigmaError(
      [...path, unknown],
      `${path.join('.')} has the unknown key "${unknown}"${didYouMean(unknown, known)}`,
    );
}
