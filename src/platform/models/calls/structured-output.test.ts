import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAnswer } from './structured-output.ts';

const json = '{"verdict": "raise", "why": "a } in \\"quotes\\""}';
const answer = { verdict: 'raise', why: 'a } in "quotes"' };

test.each([
  ['the object alone', json],
  ['a code fence', `\`\`\`json\n${json}\n\`\`\``],
  ['prose around it', `Sure! Here it is: ${json} Let me know {if} you need more.`],
  ['reasoning in tags', `<think>Maybe {"verdict": "dismiss"}? No.</think>\n${json}`],
  ['reasoning whose tag the chat template opened', `Maybe {"verdict": "dismiss", "why": "x"}.</think>${json}`],
  ['reasoning that never ends', `<think>So the answer is ${json}`],
  ['an example before it', `Like {"verdict": "…", "why": "…"}, so: ${json}`],
  ['an object inside of it', `{"note": {"verdict": "dismiss"}, ${json.slice(1)}`],
])('finds the answer in %s', (_name, text) => {
  expect(parseAnswer(text, ['verdict', 'why'])).toMatchObject(answer);
});

test.each([
  ['cut text', json.slice(0, -1)],
  ['no object', 'I cannot say.'],
  ['braces without JSON', 'for {all} of {them}'],
  ['an array', '[1, 2]'],
])('finds nothing in %s', (_name, text) => {
  expect(parseAnswer(text)).toBeUndefined();
});

test('finds any object between any text without braces', () => {
  const prose = fc.string().filter((text) => !/[{}<]/.test(text));
  fc.assert(
    fc.property(prose, fc.dictionary(fc.string(), fc.jsonValue()), prose, (before, value, after) => {
      const text = JSON.stringify(value);
      expect(parseAnswer(`${before}${text}${after}`)).toEqual(JSON.parse(text));
    }),
  );
});
