import { findPlantedCue, type PlantedCue } from './phrases/planted-text.ts';

/** Cues that prose of reports and web pages hardly contains. */
const orders: ReadonlySet<PlantedCue | undefined> = new Set(['override', 'role', 'verdict', 'markup'] as const);
const chunkMax = 4_000;

/** Returns whether the result of a tool contains orders to a model. Requests and questions are common in the texts that tools return. */
export function holdsPlantedOrder(text: string): boolean {
  for (let start = 0; start < text.length; start += chunkMax)
    if (orders.has(findPlantedCue(text.slice(start, start + chunkMax), 'script'))) return true;
  return false;
}
