import type { z } from 'zod';
import { fieldError } from '../../../platform/lib/errors.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import type { NameKind } from '../../extraction/names/dictionary/name-dictionary.ts';
import { listCanonicalNames, plainName, resolveName } from '../../extraction/names/dictionary/resolve-name.ts';
import { ruleTypes } from '../../model/report-rules.ts';
import { toTermValue, type TermKind } from '../../model/terms.ts';
import { indicatorForms } from '../../model/values/indicator-forms.ts';

/** A value of items, stored as a term of a kind, by which a parameter filters them. */
export type TermFilter = { kind: TermKind; values: string[] };

type TermParameter = {
  maxChars: number;
  description: string;
  /** Whether, with `duplicates=hide`, a duplicate may match for its root. */
  matchesDuplicates: boolean;
  /** Returns the text as it was understood, which is not empty, and the terms of which an item must have one. Throws a 400 for a wrong form. */
  read: (text: string) => { applied: string; filter: TermFilter };
};

/** The parameters of lists that filter items by a value that they contain. Every list, count and export of items accepts them. */
export const termParameters = {
  indicator: {
    maxChars: 2_000,
    description: 'An indicator, which may be defanged or in upper case.',
    matchesDuplicates: true,
    read: (text) => ({ applied: text, filter: { kind: 'indicator', values: indicatorForms(text) } }),
  },
  cve: {
    maxChars: 50,
    description: 'A CVE id, such as `CVE-2024-12345`.',
    matchesDuplicates: true,
    read: idReader('cve', 'CVE-2024-12345'),
  },
  technique: {
    maxChars: 50,
    description: 'An ATT&CK id. A technique also matches its sub-techniques.',
    matchesDuplicates: false,
    read: idReader('technique', 'T1059 or T1059.001'),
  },
  actor: {
    maxChars: 200,
    description: 'Name, any alias or the ATT&CK id of an actor, in any spelling.',
    matchesDuplicates: false,
    read: nameReader('actor'),
  },
  malware: {
    maxChars: 200,
    description: 'Name, any alias or the ATT&CK id of malware or a tool, in any spelling.',
    matchesDuplicates: false,
    read: nameReader('malware'),
  },
  tool: {
    maxChars: 200,
    description: 'Name, any alias or the ATT&CK id of a tool, in any spelling.',
    matchesDuplicates: false,
    read: nameReader('tool'),
  },
  rule: {
    maxChars: 20,
    description: `Reports that print a rule in this language: ${ruleTypes.join(', ')}.`,
    matchesDuplicates: true,
    read: readRuleType,
  },
} satisfies Record<string, TermParameter>;

type TermParameterName = keyof typeof termParameters;
const entries = Object.entries(termParameters) as [TermParameterName, TermParameter][];

/** The fields of a query string. An empty text counts as absent. */
export const termFields = Object.fromEntries(
  entries.map(([name, { maxChars, description }]) => [
    name,
    boundedString({ max: maxChars }).optional().describe(description),
  ]),
) as Record<TermParameterName, z.ZodOptional<z.ZodString>>;

/** Reads the parameters. Throws a 400 that names one whose value has the wrong form. */
export function readTermFilters(query: Partial<Record<TermParameterName, string | undefined>>) {
  const given = entries.flatMap(([name, parameter]) => {
    const text = query[name]?.trim();
    return text ? [{ name, ...parameter, ...parameter.read(text) }] : [];
  });
  const filtersOf = (isOfDuplicates: boolean): TermFilter[] =>
    given.filter(({ matchesDuplicates }) => matchesDuplicates === isOfDuplicates).map(({ filter }) => filter);
  return {
    terms: filtersOf(true),
    rootTerms: filtersOf(false),
    applied: Object.fromEntries(given.map(({ name, applied }) => [name, applied])),
  };
}

const isRuleType = (text: string): boolean => ruleTypes.some((type) => type === text.toLowerCase());

function readRuleType(text: string): ReturnType<TermParameter['read']> {
  if (!isRuleType(text))
    throw fieldError('query/rule', 'invalid_value', `\`rule\` must be one of ${ruleTypes.join(', ')}.`);
  const type = text.toLowerCase();
  return { applied: type, filter: { kind: 'rule', values: [type] } };
}

const idForms = { cve: /^CVE-\d{4}-\d{4,19}$/, technique: /^T\d{4}(?:\.\d{3})?$/ };

/** Returns whether a text has the form of the values of a parameter. */
export const isTermValue = (name: string, text: string): boolean =>
  name === 'rule'
    ? isRuleType(text)
    : !Object.hasOwn(idForms, name) || idForms[name as keyof typeof idForms].test(text.toUpperCase());

function idReader(kind: keyof typeof idForms, example: string): TermParameter['read'] {
  return (text) => {
    const id = text.toUpperCase();
    if (!idForms[kind].test(id))
      throw fieldError(`query/${kind}`, 'invalid_format', `\`${kind}\` must look like ${example}.`);
    return { applied: id, filter: { kind, values: [toTermValue(kind, id)] } };
  };
}

/** Reads the forms of a name: as it is, without what sources add to it, and the canonical names. */
function nameReader(kind: NameKind): TermParameter['read'] {
  return (text) => {
    const forms = [text, plainName(text), ...listCanonicalNames(kind, text)];
    // Malware that a source calls a tool is listed as malware, and tools are terms of both kinds.
    const listed = kind === 'tool' && resolveName(kind, text)?.kind === 'malware' ? 'malware' : kind;
    return {
      applied: text,
      filter: { kind: listed, values: [...new Set(forms.map((form) => toTermValue(listed, form)))] },
    };
  };
}
