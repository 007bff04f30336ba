import type { ModelBrain } from '../model-server.ts';
import { withUsage } from './analysts.ts';
import { readSecondQuestion } from './second-questions.ts';
import { readSentence, type ShownCell } from './sentences.ts';

/** Returns whether the cells say what a claim says, and for an excuse whether the case of its entity is harmless at all. */
export function isTrue(claim: string, cells: readonly ShownCell[], isHarmless: (entity: string) => boolean): boolean {
  const read = readSentence(claim, cells);
  if (read === undefined || !read.holds) return false;
  return read.entity === null || isHarmless(read.entity);
}

/**
 * Returns the brain of a verifier that always answers truly: it is the instrument, so it knows which entities are harmless. Of an excuse it says
 * whether the case is one.
 */
export const createTruthfulVerifier =
  (isHarmless: (entity: string) => boolean): ModelBrain =>
  (asked) => {
    const question = readSecondQuestion(asked);
    if (question.kind !== 'claim') throw new Error('The verifier was asked for a conclusion.');
    const { claim, cells, isExcuse } = question;
    const isSupported = isTrue(claim, cells, isHarmless) && (!isExcuse || readSentence(claim, cells)!.isExcuse);
    const input = { reason: 'As the cells say.', answer: isSupported ? 'supported' : 'not_stated' };
    return withUsage(asked, { calls: [{ name: asked.tools[0]!, input }] });
  };
