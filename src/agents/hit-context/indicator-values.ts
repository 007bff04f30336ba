import type { RenderedRow } from '../../detection/analysis/candidate.ts';
import { canonicalForms } from '../../feed/model/values/indicator-forms.ts';
import { toTermValue } from '../../feed/model/terms.ts';

const valuesMax = 300;
const valueCharsMax = 2000;

/** Returns the addresses, domains, URLs and hashes that are values of rows, as terms of the feed, each with the value as the row has it. */
export function findIndicatorValues(rows: readonly RenderedRow[]): Map<string, string> {
  const values = new Set(rows.flatMap(({ fields }) => Object.values(fields)).flatMap(listValues));
  const terms = new Map<string, string>();
  for (const value of [...values].slice(0, valuesMax))
    for (const { form, isStrict } of canonicalForms(value))
      if (isStrict) terms.set(toTermValue('indicator', form), value);
  return terms;
}

/** A field may contain a list. */
const listValues = (text: string): string[] =>
  text.length > valueCharsMax
    ? []
    : [text, ...text.split(/[\s,;"'[\]{}()<>|]+/)].map((part) => part.trim()).filter((part) => part.length > 3);
