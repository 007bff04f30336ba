import { hash } from 'node:crypto';
import type { AnalysisDefinition } from './analysis-definition.ts';
import { detectionCategories, getCategory } from './registry.ts';
import { tuningFields, type TuningField } from './tuning-fields.ts';
import type { Tuning } from './tuning.schema.ts';

const fields = Object.keys(tuningFields) as TuningField[];

/** Returns the value of a field of a tuning, which may be inside another (`peers.by`). */
export const readTuning = (tuning: Tuning, field: TuningField): unknown =>
  field.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], tuning);

/**
 * Returns the first field of a tuning that a category does not use, as its place below the tuning in a JSON pointer, with the reason. Returns
 * undefined if it uses all.
 */
export function findUnusedTuning(tuning: Tuning, category: string): { field: string; detail: string } | undefined {
  const { instead } = getCategory(category).tuning;
  for (const name of Object.keys(tuning) as (keyof Tuning)[]) {
    const parts = fields.filter((field) => isWithin(field, name) && readTuning(tuning, field) !== undefined);
    const isUnused = (field: string): boolean => !usesTuning(category, field);
    const unused = tuning[name] !== undefined && isUnused(name) && !isCommon(name) ? name : parts.find(isUnused);
    if (unused === undefined) continue;
    const users = detectionCategories.filter((other) => usesTuning(other, unused));
    const reason = instead[unused as TuningField] ?? `This detection is ${category}.`;
    return { field: unused.replace('.', '/'), detail: `applies to ${users.join(' and ')} only. ${reason}` };
  }
  return undefined;
}

const isWithin = (field: string, name: string): boolean => field === name || field.startsWith(`${name}.`);

/** Returns whether every category uses a field: the value lists and the working hours. */
const isCommon = (name: string): boolean => !fields.some((field) => isWithin(field, name));

/** Returns whether a category uses a field of the tuning or a part of it. */
const usesTuning = (category: string, name: string): boolean =>
  Object.keys(getCategory(category).tuning.defaults).some((field) => isWithin(field, name));

/** Change it when the same rows are remembered in another way. What was remembered before is then learned anew. */
const memoryFormat = 2;

/** Returns the SHA-256 (hex) of all fields that must be equal for two windows to be comparable. Memory belongs to one generation. */
export function computeGeneration(definition: AnalysisDefinition): string {
  const { query, category, entityField, timeField, connectionId, cadence, tuning = {} } = definition;
  const remembered = getCategory(category).tuning.remembered.flatMap((field) => {
    const value = readTuning(tuning, field);
    return value === undefined ? [] : [`${field}=${String(value)}`];
  });
  const parts = [memoryFormat, query, category, entityField, timeField, connectionId, cadence, ...remembered];
  return hash('sha256', JSON.stringify(parts));
}
