import { expect, test } from 'vitest';
import { extractProducts } from './extract-products.ts';
import { findSentences } from '../text/sentence-spans.ts';

const read = (text: string): string[] =>
  extractProducts({ title: '', sentences: findSentences(text) }).map(
    ({ vendor, product, versions }) => `${vendor} ${product} [${versions.join(', ')}]`,
  );

test.each([
  [
    'CVE-2023-34362 is a flaw in MOVEit Transfer before 2023.0.1 that was exploited.',
    ['Progress MOVEit Transfer [before 2023.0.1]'],
  ],
  [
    'FortiOS versions 7.2.0 through 7.2.4 are affected by this vulnerability.',
    ['Fortinet FortiOS [7.2.0 through 7.2.4]'],
  ],
  ['Attackers exploited Microsoft Exchange Server 2016 and stole mail.', ['Microsoft Exchange Server [2016]']],
  ['A flaw in the Acme GateWarden platform lets attackers in.', ['Acme Acme GateWarden []']],
  ['The gang used the flaw to break into 30 companies in Germany and France.', []],
  ['The miner targets Redis servers.', ['Redis Redis []']],
  ['Attackers exploited a flaw in systems running Quillsoft Gatehouse.', ['Quillsoft Quillsoft Gatehouse []']],
  [
    'Attackers scan for unpatched Microsoft Exchange and Zoho ManageEngine servers.',
    ['Microsoft Exchange []', 'Zoho ManageEngine []'],
  ],
  [
    'The flaw is used against Gladinet CentreStack and QuillStack servers.',
    ['Gladinet CentreStack []', 'Gladinet QuillStack []'],
  ],
  ['The botnet exploits flaws in Quillvision cameras and TBQ DVRs.', ['Quillvision Quillvision []', 'TBQ TBQ []']],
  [
    'The flaw affects Quillvision industrial router models QX24 and QX36.',
    ['Quillvision Quillvision QX24 []', 'Quillvision Quillvision QX36 []'],
  ],
  [
    'The flaw affects Cleo Harmony, Cleo VLTrader, and Cleo QuillCom.',
    ['Cleo Harmony []', 'Cleo QuillCom []', 'Cleo VLTrader []'],
  ],
  ['Los atacantes explotaron una vulnerabilidad en servidores Exchange.', ['Microsoft Exchange []']],
  ['The attackers leveraged CVE-2026-1111 to compromise a clinic.', []],
  ['They compromised end-of-life Quillvision routers.', ['Quillvision Quillvision []']],
  ['They compromised Quillvex servers of the gang.', []],
  ['The backdoor lives on VMware vCenter and ESXi hosts.', ['VMware ESXi []', 'VMware vCenter []']],
  [
    'CVE-2025-1111 affects Mail Gateway (MG) and Mail and Web Manager (MWM) appliances.',
    ['Mail Mail Gateway []', 'Mail Mail and Web Manager []'],
  ],
  ['The group compromised Zyxel routers and Ivanti VPN appliances.', ['Ivanti VPN appliances []', 'Zyxel routers []']],
  ['The botnet infects IoT devices, Linux servers and Android devices.', []],
  [
    'The flaw affects FortiOS 7.0 and later, FortiQuill 1.0 and higher, and FortiProxy.',
    ['Fortinet FortiOS [7.0 and later]', 'Fortinet FortiProxy []', 'Fortinet FortiQuill []'],
  ],
  ['Une faille critique dans SAP NetWeaver est exploitée.', ['SAP SAP NetWeaver []']],
  ['Eine Schwachstelle in Osteuropa betrifft viele.', []],
  ['A supply chain attack on the Quill++ editor was found.', ['Quill++ Quill++ []']],
  ['A supply chain attack on Taiwanese government entities was found.', []],
  [
    'CISA added flaws in products from Quillvision and Acmeware.',
    ['Acmeware Acmeware []', 'Quillvision Quillvision []'],
  ],
  ['ProxyShell vulnerabilities were exploited.', []],
  ['The staff used Microsoft Word and PHP at work.', []],
  ['A vulnerability in the office of a bank was exploited: Word got around.', []],
])('extracts the products of: %s', (text, products) => {
  expect(read(text).toSorted()).toEqual(products);
});

test('finds products of the caller and returns their sentence', () => {
  const text = 'Nothing here at all. Acme Gatekeeper 3.1 and earlier is vulnerable to injection.';
  const [found] = extractProducts({ title: '', sentences: findSentences(text) }, [
    { vendor: 'Acme', product: 'Gatekeeper' },
  ]);
  expect(found).toMatchObject({
    vendor: 'Acme',
    product: 'Gatekeeper',
    versions: ['3.1 and earlier'],
    confidence: 0.8,
  });
  expect(text.slice(found!.sentence.start, found!.sentence.end)).toMatch(/^Acme Gatekeeper/);
});

test('finds a product that only the title contains if the text begins with a weakness', () => {
  const readWith = (title: string, text: string): string[] =>
    extractProducts({ title, sentences: findSentences(text) }).map(({ product }) => product);
  expect(readWith('Gang abuses FortiWeb', 'A path traversal flaw lets attackers in. It was exploited in May.')).toEqual(
    ['FortiWeb'],
  );
  expect(readWith('FortiWeb turns ten', 'The company celebrates a birthday with cake.')).toEqual([]);
});
