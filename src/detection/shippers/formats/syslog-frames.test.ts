import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFrameSplitter, messageBytesMax } from './syslog-frames.ts';

/** Splits a stream that arrives in chunks of a size. */
function split(stream: Buffer, chunkBytes: number): { messages: string[]; dropped: number } {
  const splitter = createFrameSplitter();
  const frames = [];
  for (let at = 0; at < stream.length; at += chunkBytes)
    frames.push(splitter.push(stream.subarray(at, at + chunkBytes)));
  frames.push(splitter.end());
  return {
    messages: frames.flatMap(({ messages }) => messages.map((message) => message.toString())),
    dropped: frames.reduce((sum, { dropped }) => sum + dropped, 0),
  };
}

const text = fc.string({ unit: fc.constantFrom('<', '1', ' ', 'é', 'x', '\u{1F600}'), maxLength: 20 });
const message = fc.record({
  text: text.map((tail) => `<13>${tail}x`),
  form: fc.constantFrom('count', '\n', '\r\n', '\0'),
});

test('splits counted messages and lines alike, wherever the chunks end', () => {
  fc.assert(
    fc.property(fc.array(message), fc.integer({ min: 1, max: 20 }), (list, chunkBytes) => {
      const stream = list.map(({ text: content, form }) =>
        form === 'count' ? `${Buffer.byteLength(content)} ${content}` : `${content}${form}`,
      );
      expect(split(Buffer.from(stream.join('')), chunkBytes)).toEqual({
        messages: list.map(({ text: content }) => content),
        dropped: 0,
      });
    }),
  );
});

test('a counted message may contain line feeds, and the last line may lack its end', () => {
  expect(split(Buffer.from('7 <1>a\nb\n<2>c\n\n<3>d'), 3)).toEqual({
    messages: ['<1>a\nb', '<2>c', '<3>d'],
    dropped: 0,
  });
});

test('drops messages that are too long, and continues after them', () => {
  const long = 'x'.repeat(messageBytesMax + 1);
  const stream = Buffer.from(`<1>${long}\n<2>b\n${long.length} ${long}<3>c\n`);
  for (const chunkBytes of [65_536, stream.length])
    expect(split(stream, chunkBytes)).toEqual({ messages: ['<2>b', '<3>c'], dropped: 2 });
});

test.each(['12x <1>a', '99999999999 <1>a', '4-4 <1>a'])('rejects the length in %j', (stream) => {
  expect(() => split(Buffer.from(stream), 100)).toThrow('no valid length');
});

test('ignores a counted message that is cut off', () => {
  expect(split(Buffer.from('5 <1>ab20 <2>c'), 4)).toEqual({ messages: ['<1>ab'], dropped: 0 });
});
