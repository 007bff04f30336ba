import type { ModelRequestRecord } from '../model-server.ts';
import type { ShownCell } from './sentences.ts';

/** A second question of an investigation: whether cells say what a claim says, or how a masked case ends. */
export type SecondQuestion =
  | { kind: 'claim'; claim: string; cells: ShownCell[]; isExcuse: boolean }
  | { kind: 'conclusion'; question: string; trusted: { from: string; text: string }[] };

const block = /<(data-[0-9a-f]+)>\n([\s\S]*?)\n<\/\1>/g;

/** Reads a second question. A list that was cut is empty. */
export function readSecondQuestion({ system, turns }: ModelRequestRecord): SecondQuestion {
  const blocks = [...turns[0]!.text.matchAll(block)].map(([, , body]) => body!);
  if (!system.startsWith('You check one claim'))
    return { kind: 'conclusion', question: turns[0]!.text, trusted: parseList(blocks[2]) };
  const isExcuse = system.includes('wants to dismiss');
  return { kind: 'claim', claim: blocks[0] ?? '', cells: parseList(blocks[1]), isExcuse };
}

function parseList<T>(text: string | undefined): T[] {
  try {
    return JSON.parse(text ?? '[]') as T[];
  } catch {
    return [];
  }
}
