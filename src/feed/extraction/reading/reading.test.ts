import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeItem } from '../extract-item.ts';
import { containsName } from './check-claims.ts';
import { splitDocument, halvePart, renderPart } from './document-parts.ts';

const text = `Cozy Bear Bakery breached through its web shop

The Cozy Bear Bakery, a chain of cafes in Ohio, said that someone stole card data of 1,200 customers from its web shop. The intruders used Mimikatz to dump the memory of LSASS.

The skimmer sends the cards to 185.100.87[.]60. The address 185.100.87[.]61 belongs to a customer of the bakery, and 185.100.87[.]60 is an Emotet server.`;
const report = { text, title: 'Cozy Bear Bakery breached', publishTime: '2026-03-02T00:00:00Z' };
const whole = { start: 0, end: text.length };

const read = (...claims: object[]) => completeItem(report, { answers: [{ part: whole, answer: { claims } }] });
const shop = 'someone stole card data of 1,200 customers from its web shop';

test('a model completes the fields of an item, with the passages that say so', () => {
  const { item, model } = read(
    { field: 'name', value: 'Cozy Bear', kind: 'none', quote: 'The Cozy Bear Bakery, a chain of cafes in Ohio' },
    { field: 'severity', value: 'medium', kind: 'spread', quote: shop, confidence: 0.8 },
    { field: 'tldr', value: 'A web shop lost card data of 1,200 customers.', quote: shop },
    { field: 'role', value: '185.100.87[.]60', kind: 'exfiltration', quote: 'sends the cards to 185.100.87[.]60' },
    {
      field: 'family',
      value: '185.100.87.60',
      kind: 'malware',
      name: 'Emotet',
      quote: '185.100.87[.]60 is an Emotet server',
    },
  );
  expect(model.dropped).toEqual({});
  expect(item.classification.actor).toEqual([]);
  expect(item).toMatchObject({
    severity: 'medium',
    severityRule: 'model:spread',
    tldr: 'A web shop lost card data of 1,200 customers.',
  });
  expect(item.iocs.ipv4[0]).toMatchObject({
    normalizedValue: '185.100.87.60',
    role: 'exfiltration',
    malware: ['Emotet'],
  });
  const cited = item.severityEvidence.map((ref) => item.passages[Number(/\d+/.exec(ref)![0])]!);
  expect(cited.map(({ start, end }) => item.storedText.slice(start, end))).toEqual([shop]);
});

test('a model tells what happened and what the report advises, each with a footnote', () => {
  const dump = 'The intruders used Mimikatz to dump the memory of LSASS.';
  const { item, model } = read(
    { field: 'tldr', value: 'Kartendaten von 1.200 Kunden wurden gestohlen.', quote: shop },
    { field: 'step', value: 'Zuerst lasen sie den Speicher von LSASS aus.', quote: dump },
    {
      field: 'advice',
      value: 'Sperren Sie 185.100.87.60.',
      kind: 'block',
      quote: '185.100.87[.]60 is an Emotet server',
    },
    {
      field: 'advice',
      value: 'Sperren Sie 185.100.87.99.',
      kind: 'block',
      quote: '185.100.87[.]60 is an Emotet server',
    },
    { field: 'advice', value: 'Be careful.', kind: 'care', quote: dump },
  );
  expect(model.dropped).toEqual({ stated_more_than_quoted: 1 });
  const quoted = (ref: string): string => {
    const { start, end } = item.passages[Number(/\d+/.exec(ref)![0])]!;
    return item.storedText.slice(start, end);
  };
  expect(item.advice).toMatchObject([{ action: 'block', text: 'Sperren Sie 185.100.87.60.' }]);
  expect(item.attackPath).toEqual(['Zuerst lasen sie den Speicher von LSASS aus.']);
  expect(item.footnotes?.map(({ field, evidenceRef }) => [field, quoted(evidenceRef)])).toEqual([
    ['tldr', shop],
    ['attackPath', dump],
  ]);
  expect(completeItem(report, {}).item).toMatchObject({ attackPath: [dump] });
  expect(completeItem(report, {}).item.footnotes).toBeUndefined();
});

test.each([
  [
    'a passage that is not in the text',
    { field: 'severity', value: 'critical', quote: 'Hospitals were encrypted.' },
    'quote_not_in_text',
  ],
  [
    'a name that is not in its passage',
    { field: 'name', value: 'LockBit', kind: 'malware', quote: shop },
    'value_not_in_quote',
  ],
  [
    'a value that code did not extract',
    { field: 'role', value: '185.100.87.99', kind: 'c2', quote: shop },
    'value_not_in_text',
  ],
  [
    'a value that is not in its passage',
    { field: 'role', value: '185.100.87.61', kind: 'c2', quote: shop },
    'value_not_in_quote',
  ],
  ['a technique that ATT&CK does not have', { field: 'technique', value: 'T9999', quote: shop }, 'unknown_technique'],
  [
    'a number that its passage does not have',
    { field: 'summary', value: 'It lost 9,000 cards.', quote: shop },
    'stated_more_than_quoted',
  ],
])('drops and counts %s', (_, claim, reason) => {
  const without = completeItem(report, {}).item;
  const { item, model } = read(claim);
  expect(model).toEqual({ claims: [], dropped: { [reason]: 1 } });
  expect(item).toEqual(without);
});

test('counts claims without a usable form', () => {
  const claims = [
    null,
    'severity',
    { field: 'mood', value: 'x', quote: shop },
    { field: 'role', value: '185.100.87.60', kind: 'evil', quote: shop },
  ];
  expect(read(...(claims as object[])).malformed).toBe(4);
});

test('a model never ends a value that the extractor keeps', () => {
  const { item } = read({
    field: 'role',
    value: '185.100.87.60',
    kind: 'legitimate',
    quote: 'sends the cards to 185.100.87[.]60',
  });
  expect(item.iocs.ipv4[0]).toMatchObject({ normalizedValue: '185.100.87.60', role: 'legitimate', status: 'active' });
});

test('a model that denies a technique removes it, and its silence removes nothing', () => {
  const techniques = (...claims: object[]) =>
    read(...claims).item.classification.attack.map(({ subTechnique }) => subTechnique);
  const quote = 'The intruders used Mimikatz to dump the memory of LSASS.';
  expect(techniques()).toContain('T1003.001');
  expect(techniques({ field: 'technique', value: 'T1003.001', kind: 'not_done', quote })).not.toContain('T1003.001');
});

test('finds a quote whose white space and marks the model changed', () => {
  const { model } = read({ field: 'severity', value: 'low', quote: 'The skimmer  sends the\ncards to' });
  expect(model.claims).toHaveLength(1);
  const { quote } = model.claims[0]!;
  expect(text.slice(quote.start, quote.end)).toBe('The skimmer sends the cards to');
});

test.each([
  ['the group APT 28 did it', 'APT28', true],
  ["Turla's implant", 'Turla', true],
  ['a Ratatouille for all', 'Rat', false],
  ['von Emotet恶意软件 befallen', 'Emotet', true],
  ['据称海莲花组织', '海莲花', true],
  ['nothing', '', false],
])('looks for whole names: %s, %s', (quoted, name, isInside) => {
  expect(containsName(quoted, name)).toBe(isInside);
});

/** Invented claims: words and values of the text beside those that it does not have. */
const morsel = fc.constantFrom(
  ...text.split(/\s+/),
  'LockBit',
  'APT29',
  '203.0.113.9',
  'Emotet',
  'T1486',
  '185.100.87.60',
  '9,000',
  '',
);
const sentence = fc.array(morsel, { maxLength: 6 }).map((words) => words.join(' '));
const claim = fc.record({
  field: fc.constantFrom('name', 'technique', 'product', 'severity', 'role', 'family', 'summary', 'tldr', 'step'),
  value: fc.oneof(morsel, sentence, fc.constantFrom('critical', 'low')),
  kind: fc.constantFrom('actor', 'malware', 'tool', 'none', 'c2', 'victim', 'done', 'exploited-now'),
  name: morsel,
  quote: fc.oneof(
    sentence,
    fc.nat(text.length).chain((start) => fc.nat(80).map((length) => text.slice(start, start + length))),
  ),
  confidence: fc.oneof(fc.double(), fc.constant('high')),
});

test('no claim whose passage or value is not in the text reaches an item, of 1,000', () => {
  const title = report.title;
  const allowed = new Set(completeItem(report, {}).item.classification.malware.map(({ name }) => name));
  fc.assert(
    fc.property(fc.array(claim, { minLength: 5, maxLength: 5 }), (claims) => {
      const { item, model } = read(...claims);
      for (const { quote } of model.claims) {
        const source = quote.in === 'title' ? title : text;
        expect(quote.start).toBeGreaterThanOrEqual(0);
        expect(source.slice(quote.start, quote.end).trim()).not.toBe('');
      }
      for (const { start, end } of item.passages) expect(item.storedText.slice(start, end).trim()).not.toBe('');
      for (const { name, aliases } of [...item.classification.malware, ...item.classification.actor])
        expect(allowed.has(name) || [name, ...aliases].some((form) => containsName(text, form)), name).toBe(true);
      expect(JSON.stringify(item)).not.toMatch(/203\.0\.113\.9|9,000/);
      expect(
        item.iocs.ipv4.every(({ normalizedValue }) => text.includes(normalizedValue.replace(/\.(?=\d+$)/, '[.]'))),
      ).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test('splits a document into parts that contain its article once, without the footer', () => {
  const long = `${'The group moved through the network of the plant. '.repeat(100)}\n\n${Array.from({ length: 40 }, (_, n) => `203.0.113.${n + 1}`).join('\n')}\nRelated articles\nAnother story`;
  const { document, known } = completeItem({ text: long }, {});
  const parts = splitDocument(document, known, 1_000);
  expect(parts.length).toBeGreaterThan(4);
  for (const [index, part] of parts.entries()) {
    expect(part.end - part.start).toBeLessThanOrEqual(1_000);
    expect(part.start).toBeGreaterThanOrEqual(parts[index - 1]?.end ?? 0);
  }
  const shown = parts.map((part) => renderPart(document, part)).join('\n');
  expect(shown.match(/moved through/g)).toHaveLength(100);
  expect(shown).toContain('more lines of values');
  expect(shown).not.toContain('Another story');
  const halves = halvePart(document, parts[0]!);
  expect(halves).toHaveLength(2);
  expect([halves[0]!.start, halves[1]!.end]).toEqual([parts[0]!.start, parts[0]!.end]);
});
