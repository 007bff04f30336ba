type Limits = { textMax: number; elementsMax: number; fieldsMax: number };

/** Characters of an answer as JSON: about 10,000 tokens of a language model. */
export const answerCharsMax = 40_000;
const elementsAtMost = 200;

/**
 * Shortens a JSON value until its text has at most `charsMax` characters: first long texts and lists, then more of them. Texts and lists
 * that were cut end with how much is missing.
 */
export function boundAnswer(value: unknown, charsMax = answerCharsMax): { value: unknown; isShortened: boolean } {
  for (let elementsMax = elementsAtMost; elementsMax >= 1; elementsMax = Math.floor(elementsMax / 2)) {
    const limits = { elementsMax, textMax: elementsMax * 40, fieldsMax: elementsMax * 4 };
    const cuts = { count: 0 };
    const shortened = shorten(value, limits, cuts);
    if (JSON.stringify(shortened ?? null).length <= charsMax) return { value: shortened, isShortened: cuts.count > 0 };
  }
  return { value: 'The answer is too large. Ask for less.', isShortened: true };
}

function shorten(value: unknown, limits: Limits, cuts: { count: number }): unknown {
  const cut = (length: number, max: number): number => {
    if (length > max) cuts.count += 1;
    return length - max;
  };
  if (typeof value === 'string') {
    const missing = cut(value.length, limits.textMax);
    return missing > 0 ? `${value.slice(0, limits.textMax).toWellFormed()}… (${missing} more characters)` : value;
  }
  if (Array.isArray(value)) {
    const missing = cut(value.length, limits.elementsMax);
    const kept = value.slice(0, limits.elementsMax).map((element) => shorten(element, limits, cuts));
    return missing > 0 ? [...kept, `… (${missing} more)`] : kept;
  }
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value);
  const missing = cut(fields.length, limits.fieldsMax);
  const kept = fields.slice(0, limits.fieldsMax).map(([name, field]) => [name, shorten(field, limits, cuts)] as const);
  return Object.fromEntries(missing > 0 ? [...kept, ['…', `${missing} more fields`]] : kept);
}
