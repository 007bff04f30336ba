import type { SourceDocument } from './read-documents.ts';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/**
 * Applies `action` of multi-document rules (Sigma specification 1): `global` adds its fields to every document after it, `repeat` continues
 * the document before it, and `reset` forgets the global fields.
 */
export function mergeGlobalDocuments(documents: readonly SourceDocument[]): SourceDocument[] {
  let global: Fields = {};
  let previous: Fields = {};
  return documents.flatMap((document) => {
    if (!isFields(document.value)) return [document];
    const { action, ...fields } = document.value;
    if (action === 'global') global = mergeFields(global, fields);
    if (action === 'reset') global = {};
    if (action === 'global' || action === 'reset') return [];
    previous = mergeFields(action === 'repeat' ? previous : global, fields);
    return [{ ...document, value: action === undefined || action === 'repeat' ? previous : { ...previous, action } }];
  });
}

/** Returns both maps as one. Maps inside them are merged, other values of the second win. */
function mergeFields(base: Fields, more: Fields): Fields {
  const merged = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const before = Object.hasOwn(merged, key) ? merged[key] : undefined;
    merged[key] = isFields(before) && isFields(value) ? mergeFields(before, value) : value;
  }
  return merged;
}
