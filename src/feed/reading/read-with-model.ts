import { askModel } from '../../platform/models/ask-model.ts';
import type { MeteredModel } from '../../platform/models/metered-call.ts';
import { isUnusableAnswer, ModelError } from '../../platform/models/model-error.ts';
import type { ConfiguredModel } from '../../platform/models/models.ts';
import type { ReadReport } from '../extraction/extract-item.ts';
import { halvePart, splitDocument } from '../extraction/reading/document-parts.ts';
import type { PartAnswer } from '../extraction/reading/model-claims.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { claimsTool, rememberAnswer, renderQuestion } from './reading-prompt.ts';

/** What a model answered about each part of a report. `unreadParts` were not read: the report is too long, or no answer was usable. */
export type ModelReading = { answers: PartAnswer[]; unreadParts: number; problem?: string };

const partsMax = 12;
const halvingsMax = 2;
const partMaxChars = 12_000;
const partMinChars = 1_000;
/** Room for the rules, the schema and the lists beside a part, in tokens. */
const promptTokens = 2_500;
/** Fewer than the usual four, because hashes and links need more tokens. */
const charsPerToken = 3;

type ReadOptions = MeteredModel & { subject: string; signal: AbortSignal; keepLease: () => Promise<void> };

/**
 * Has a model read a report part by part. A part whose answer was cut is halved. Throws a ModelError if the model is unavailable or a budget
 * is used up, and then what was read is lost.
 */
export async function readWithModel(
  { document, known, lexicon }: ReadReport,
  { keepLease, ...options }: ReadOptions,
): Promise<ModelReading> {
  const { contextTokens, maxOutputTokens, language } = options.model.entry;
  const room = (contextTokens - maxOutputTokens - promptTokens) * charsPerToken;
  const all = splitDocument(document, known, Math.max(partMinChars, Math.min(partMaxChars, room)));
  const waiting = all.slice(0, partsMax).map((part) => ({ part, halvings: 0 }));
  const reading: ModelReading = { answers: [], unreadParts: all.length - waiting.length };
  const memory: string[] = [];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { part, halvings } = next;
    await keepLease();
    const question = renderQuestion({ document, known, lexicon: lexicon.claims, part, memory, language });
    try {
      const answer = await ask(options, question);
      reading.answers.push({ part: { start: part.start, end: part.end }, answer });
      memory.push(...rememberAnswer(answer));
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const halves = isTruncated(error) && halvings < halvingsMax ? halvePart(document, part) : [];
      if (halves.length > 1) waiting.unshift(...halves.map((half) => ({ part: half, halvings: halvings + 1 })));
      else if (isTruncated(error) || isUnusableAnswer(error.failure)) skipPart(reading, error);
      else throw error;
    }
  }
  return reading;
}

const isTruncated = ({ failure }: ModelError): boolean =>
  failure.kind === 'model_truncated' || failure.kind === 'model_context_too_small';

function skipPart(reading: ModelReading, { failure }: ModelError): void {
  reading.unreadParts += 1;
  reading.problem = failure.message;
}

type ClaimList = { claims: unknown[] };

const ask = (
  options: Omit<ReadOptions, 'keepLease'>,
  question: { system: string; content: string },
): Promise<ClaimList> =>
  askModel<ClaimList>({
    ...options,
    ...question,
    tool: claimsTool,
    parse: async (answer) => {
      const claims = (answer as Partial<ClaimList> | undefined)?.claims;
      return Array.isArray(claims)
        ? { value: { claims } }
        : { problem: 'it needs `claims`, a list that may be empty.' };
    },
  });

/** TLP 2.0 labels whose recipients may not share a text outside their own organization. */
const internalOnly: readonly string[] = ['AMBER+STRICT', 'RED'];

/** Returns whether an item's text may be sent to a model: items marked AMBER+STRICT or RED go to local models only. */
export const canModelRead = ({ entry }: Pick<ConfiguredModel, 'entry'>, item: Pick<FeedItem, 'source'>): boolean =>
  entry.local || !internalOnly.includes(item.source.tlp);
