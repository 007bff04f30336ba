import type { Expression } from '../model/expression.ts';
import { plainText } from '../parse/text-pattern.ts';
import type { ConditionWriter } from './dialect.ts';

const widthMax = 100;

/** Returns an expression as text, with line breaks where a line would be long. Negations are two-valued in every language. */
export function writeCondition(expression: Expression, writer: ConditionWriter, indent = '  '): string {
  return write(expression, writer, indent).text;
}

/** `isLoose`: the text has an operator outside of parentheses. */
type Written = { text: string; isLoose: boolean };

function write(expression: Expression, writer: ConditionWriter, indent: string): Written {
  const inner = `${indent}  `;
  if (expression.kind === 'match') return { text: writer.match(expression.field, expression.test), isLoose: false };
  if (expression.kind === 'not') return { text: writer.not(write(expression.of, writer, inner).text), isLoose: false };
  const { kind } = expression;
  if (expression.of.length === 0) return { text: kind === 'all' ? writer.always : writer.never, isLoose: false };
  const parts = groupAlternatives(expression, writer).map(({ text, one }): Written =>
    text === undefined ? write(one!, writer, inner) : { text, isLoose: false },
  );
  if (parts.length === 1) return parts[0]!;
  const texts = parts.map(({ text, isLoose }) => (isLoose ? wrap(text, indent) : text));
  const operator = kind === 'all' ? writer.and : writer.or;
  const line = texts.join(` ${operator} `);
  const isShort = line.length <= widthMax && !line.includes('\n');
  return { text: isShort ? line : texts.join(`\n${indent}${operator} `), isLoose: true };
}

function wrap(text: string, indent: string): string {
  return text.includes('\n') ? `(\n${indent}  ${text}\n${indent})` : `(${text})`;
}

type Part = { text?: string; one?: Expression };

/** Puts alternatives that compare the same field with whole texts into one list. */
function groupAlternatives(
  { kind, of }: Extract<Expression, { kind: 'all' | 'any' }>,
  writer: ConditionWriter,
): Part[] {
  if (kind === 'all' || !writer.oneOf) return of.map((one) => ({ one }));
  const lists = new Map<string, { field: string; cased: boolean; texts: string[] }>();
  const parts: (Part & { key?: string })[] = [];
  for (const one of of) {
    const plain = one.kind === 'match' && one.test.kind === 'text' ? plainText(one.test.pattern) : undefined;
    if (plain === undefined || one.kind !== 'match' || one.test.kind !== 'text' || one.field === null) {
      parts.push({ one });
      continue;
    }
    const key = `${one.test.cased}:${one.field}`;
    const list = lists.get(key);
    if (list) list.texts.push(plain);
    else {
      lists.set(key, { field: one.field, cased: one.test.cased, texts: [plain] });
      parts.push({ one, key });
    }
  }
  return parts.map(({ one, key }) => {
    const list = key === undefined ? undefined : lists.get(key);
    return list && list.texts.length > 1 ? { text: writer.oneOf!(list.field, list.texts, list.cased) } : { one: one! };
  });
}
