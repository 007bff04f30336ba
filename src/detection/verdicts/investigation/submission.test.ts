import { expect, test } from 'vitest';
import { verdictSchema } from '../../detections/record/field-schemas.ts';
import { createSubmissionFormat } from './submission.ts';

const submitted = {
  claims: [
    { text: 'root signed in. '.repeat(100), kind: 'fact', cites: Array.from({ length: 9 }, () => ({ fact: 'a' })) },
  ],
  headline: 'A sign-in '.repeat(60),
  verdict: 'raise',
  severity: 'high',
  confidence: 80,
};

test('bounds what a server lets the model write, and reads a longer verdict all the same', () => {
  const { schema, read } = createSubmissionFormat(verdictSchema, null);
  expect(schema).toMatchObject({ properties: { headline: { maxLength: 200 }, claims: { maxItems: 20 } } });
  expect(read(submitted)).toMatchObject({ submission: submitted });
});

test('reads no verdict that lacks its conclusion', () => {
  const { verdict: _, ...partial } = submitted;
  expect(createSubmissionFormat(verdictSchema, null).read(partial)).toMatchObject({
    problem: expect.stringContaining('verdict'),
  });
});

test('rejects a schema that cannot be compiled', () => {
  expect(() => createSubmissionFormat(verdictSchema, { type: 'nonsense' })).toThrow(
    'structuredOutputSchema cannot be used',
  );
});
