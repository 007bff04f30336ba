import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonLimitError, parseJsonInSlices } from './parse-in-slices.ts';

const limits = { depthMax: 100, elementsMax: 1_000_000, fieldsMax: 1_000_000 };

function parseAtOnce(text: string): unknown {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return 'invalid';
  }
}

const parse = async (text: string): Promise<unknown> => {
  try {
    return { value: await parseJsonInSlices(text, limits) };
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return 'invalid';
  }
};

test('parses valid JSON like JSON.parse', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.constantFrom(0, 1, '\t', '\r\n '), async (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(await parse(text)).toEqual(parseAtOnce(text));
    }),
  );
});

test('accepts and rejects the same texts as JSON.parse', async () => {
  const part = fc.constantFrom(
    ...'{ } [ ] , : " \\ "a" "\\u00e9" "\\ud83d\\ude00" \\u12 1 -0 01 1e5 .5 true nul null é "__proto__": "a": {"a":[ ]}'.split(
      ' ',
    ),
    ' ',
    '\n',
    '\u00a0',
    '\u0001',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 9 }), async (parts) => {
      const text = parts.join('');
      expect(await parse(text)).toEqual(parseAtOnce(text));
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ['{"__proto__": {"admin": true}, "a": 1}', 'a key that is the prototype'],
  ['{"a": 1, "b": 2, "a": 3}', 'a key twice'],
  [
    JSON.stringify({ text: `${'x'.repeat(262_143)}\n\\"é😀`.repeat(3) }),
    'a text of several pieces with escapes at their ends',
  ],
  [`"${'\\ud83d\\ude00'.repeat(50_000)}"`, 'pairs of escapes'],
  ['', 'nothing'],
  ['"a', 'an open text'],
  ['"a\\', 'an open escape'],
])('parses %.40s like JSON.parse: %s', async (text) => {
  const [parsed, expected] = [await parse(text), parseAtOnce(text)];
  expect(parsed).toEqual(expected);
  expect(JSON.stringify(parsed)).toBe(JSON.stringify(expected));
});

test.each([
  ['[[[[]]]]', { depthMax: 3 }, 'depthMax', '/0/0/0'],
  ['{"a/b": {"c": {}}, "d": 1}', { depthMax: 2 }, 'depthMax', '/a~1b/c'],
  ['{"a": [1, 2, 3, 4]}', { elementsMax: 3 }, 'elementsMax', '/a'],
  ['[0, {"a": 1, "b": 2}]', { fieldsMax: 1 }, 'fieldsMax', '/1'],
] as const)('rejects %s by %o', async (text, own, limit, pointer) => {
  const error = await parseJsonInSlices(text, { ...limits, ...own }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(JsonLimitError);
  expect(error).toMatchObject({ limit, pointer });
});

test.each([
  ['elements', `[${'{},'.repeat(300_000)}1]`],
  ['fields', `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`],
  ['a text', `"${'\\n'.repeat(3_000_000)}"`],
])('lets other work run while it parses %s', async (_name, text) => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  await parseJsonInSlices(text, limits);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
});
