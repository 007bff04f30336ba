import { expect, test } from 'vitest';
import { isMarkedRetracted } from './retraction-marks.ts';

test.each([
  '[RETRACTED] Bluefin campaign: not malicious', '[Retracted] x', '(Withdrawn) Advisory 5', 'RETRACTED: Bluefin campaign', 'Withdrawn - Advisory 5',
  'Retraction: our report of 20 November', 'RETRACTED Bluefin campaign', 'Bluefin campaign [RETRACTED]', 'Bluefin campaign (withdrawn)',
  'Bluefin campaign – RETRACTED', '** WITHDRAWN ** Advisory', '【撤回】Bluefin', 'Zurückgezogen: Bluefin', '[RETRACTED ARTICLE] x', 'Withdrawn',
  'RETRACTION NOTICE: x', 'Advisory withdrawn: x',
])('recognizes the mark in %j', (title) => {
  expect(isMarkedRetracted(title)).toBe(true);
}); // prettier-ignore

test.each([
  'Acme has withdrawn its patch', 'Withdrawn patches return to Windows', 'Attackers revoked certificates', 'A retracted claim about Bluefin',
  'Correction: our report of 20 November', '[UPDATED] Bluefin', 'Certificates revoked after a breach at Acme', 'Why the report was retracted',
  'CVE-2026-1 (rejected by the vendor as a duplicate)', 'Retractedness',
])('recognizes no mark in %j', (title) => {
  expect(isMarkedRetracted(title)).toBe(false);
}); // prettier-ignore
