import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

const rate = (title: string, text: string, sourceUrl?: string) =>
  extractItem({
    title,
    text: `${title}\n\n${text}`,
    publishTime: '2026-03-02T00:00:00Z',
    ...(sourceUrl ? { sourceUrl } : {}),
  }).severity;

// Texts that call themselves guides, and reports that explain a product or a term on the way.
test.each([
  [
    'none',
    'How ransomware is targeting cities',
    'Ransomware attacks have emerged as one of the most significant threats to city governments across the globe. In this comprehensive guide, we break down how ransomware attacks on cities work. The attacks cripple hospitals and city governments.',
  ],
  [
    'high',
    'Foobar ransomware attacks companies',
    'Acme Labs observed attacks of the Foobar ransomware on companies in Canada. The attackers encrypted servers and left a ransom note. This guide lists the steps of the attack.',
  ],
  [
    'high',
    'CVE-2026-10001: path traversal in a firewall',
    'What is the Acme firewall?\nThe Acme firewall inspects requests.\nOverview\nCVE-2026-10001 is a path traversal vulnerability. The vendor confirmed that it was actively exploited in the wild before the advisory.',
  ],
  [
    'high',
    'Browser vulnerability: urgent alert',
    'Experts have warned that attackers are already attempting to exploit the vulnerability. The vendor published an update.',
  ],
])('rates as %s: %s', (severity, title, text) => {
  expect(rate(title, text)).toBe(severity);
});

test('rates the explanation of a term none, whatever it says about scams', () => {
  const text =
    'Spam is unwanted mail. Scammers send spam with fake offers. Fraudsters also send scams by text message. This text explains how to recognize them.';
  expect(rate('Unwanted mail', text, 'https://example.org/topics/what-is-spam')).toBe('none');
});
