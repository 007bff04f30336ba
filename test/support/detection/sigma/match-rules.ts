import type { Expression } from '../../../../src/detection/matching/expression.ts';
import { createFieldRow, renameFields } from '../../../../src/detection/matching/compile-expression.ts';
import { readEventField } from './read-event-field.ts';
import { compileRuleSet } from '../../../../src/detection/matching/rule-set.ts';
import type { RuleQuery } from '../../../../src/detection/siem/dialects/dialect.ts';

/** Returns a function that returns the indexes of the rules that match an event, without a log store. */
export function createRuleMatcher(rules: readonly RuleQuery[]): (event: Record<string, unknown>) => number[] {
  const fields: (readonly string[] | null)[] = [];
  const columns = new Map<string | null, number>();
  const columnOf = (key: string | null): number => {
    const known = columns.get(key);
    if (known !== undefined) return known;
    const column = fields.push(key === null ? null : (JSON.parse(key) as string[])) - 1;
    columns.set(key, column);
    return column;
  };
  // Fields that are read from the same keys are one column, whatever rules call them.
  const keyed = rules.map(({ where, fields: own }): Expression => {
    const keys = new Map(own.map(({ name, names }) => [name, JSON.stringify(names)]));
    return renameFields(where, (field) => (field === null ? null : keys.get(field)!));
  });
  const set = compileRuleSet(keyed, columnOf);
  return (event) => {
    const read = (names: readonly string[] | null): string | null => {
      if (names === null) return JSON.stringify(event);
      for (const name of names) {
        const text = readEventField(event, name);
        if (text !== null) return text;
      }
      return null;
    };
    const texts = fields.map(read);
    return set.match(createFieldRow((column) => texts[column]!));
  };
}
