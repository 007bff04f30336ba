import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createFlowLogDecoder, splitFlowLog } from './aws-decoders.ts';

const standard =
  'version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status';
const decode = (text: string) => {
  const decoder = createFlowLogDecoder('vpcflow');
  return [...decoder.push(Buffer.from(text)), ...decoder.end()].map(({ event }) =>
    typeof event === 'string' ? event : [event.timeMicros, event.value],
  );
};

test('reads the standard fields, with numbers, and times from the start', () => {
  const flow = '2 012345678901 eni-1 192.0.2.7 198.51.100.9 52311 22 6 10 840 1772366400 1772366460 REJECT OK';
  expect(decode(`${standard}\n${flow}\n`)).toEqual([
    [
      1_772_366_400_000_000,
      {
        version: 2,
        account_id: '012345678901',
        interface_id: 'eni-1',
        srcaddr: '192.0.2.7',
        dstaddr: '198.51.100.9',
        srcport: 52_311,
        dstport: 22,
        protocol: 6,
        packets: 10,
        bytes: 840,
        start: 1_772_366_400,
        end: 1_772_366_460,
        action: 'REJECT',
        log_status: 'OK',
      },
    ],
  ]);
});

test('reads fields of later versions in any order, and leaves missing values out', () => {
  expect(decode('start tcp-flags pkt-dstaddr az-id ecs-task-id\r\n1772366400 19 203.0.113.5 use1-az1 -\r\n')).toEqual([
    [1_772_366_400_000_000, { start: 1_772_366_400, tcp_flags: 19, pkt_dstaddr: '203.0.113.5', az_id: 'use1-az1' }],
  ]);
});

test('rejects a line with other values than fields, and a file without names', () => {
  expect(decode('start action\n1772366400 ACCEPT extra\n1772366400 ACCEPT\n')).toEqual([
    '3 values for 2 fields',
    [1_772_366_400_000_000, { start: 1_772_366_400, action: 'ACCEPT' }],
  ]);
  expect(() => decode('2 012345678901 eni-1\n')).toThrow('does not begin with the names of the fields');
});

test('splits a file at line ends into bodies that all begin with the names', async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `${1_772_366_400 + n} ACCEPT`);
  const bodies = (await Array.fromAsync(splitFlowLog(gzipSync(['start action', ...lines].join('\n')), 1_000))).map(
    String,
  );
  expect(bodies.length).toBeGreaterThan(1);
  expect(bodies.map((body) => body.split('\n')[0])).toEqual(bodies.map(() => 'start action'));
  expect(bodies.flatMap((body) => body.split('\n').slice(1).filter(Boolean))).toEqual(lines);
  expect(await Array.fromAsync(splitFlowLog(Buffer.from('start action\n'), 1_000))).toEqual([]);
});

test.each([
  ['no line end', 'x'.repeat(300_000)],
  ['a line without an end after the names', `start action\n${'x'.repeat(300_000)}`],
])('keeps no more than a body of a file with %s', async (_name, text) => {
  const bodies = await Array.fromAsync(splitFlowLog(Buffer.from(text), 70_000));
  expect(bodies.every(({ length }) => length < 200_000)).toBe(true);
  const cut = text.indexOf('\n') + 1;
  expect(bodies.map((body) => String(body).slice(cut)).join('')).toBe(text.slice(cut));
});
