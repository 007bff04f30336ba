import { describe, expect, test } from 'vitest';
import { buckets } from '../../model/vocabulary.ts';
import type { ParseResult } from '../source-format.ts';
import { checkPassages, parseList } from '../../../../test/support/feed/csv-lists.ts';
import { csv } from './csv.ts';

describe('lists of vendors', () => {
  const sha256 = '0123456789abcdef'.repeat(4);
  const values = ({ records: [record] }: ParseResult): string[] =>
    buckets.flatMap((bucket) => record!.iocs[bucket].map(({ type, normalizedValue }) => `${type} ${normalizedValue}`));
  const mappings = ({ records: [record] }: ParseResult): string[] =>
    record!.classification.mappings.map(({ framework, id }) => `${framework} ${id}`);

  test.each([
    ['Indicator_type,Data,Note', 'file_path', 'filename'],
    ['Indicator,Data,Note', 'filepath', 'file name'],
    ['value type,value,comment', 'File Path', 'File-Name'],
    ['IndicatorType,IndicatorValue,Title', 'FilePath', 'FileName'],
  ])('reads values by the type in another column: %s', (header, path, name) => {
    const parsed = parseList(
      `${header}\nDescription,https://reports.example/one,About it\n${path},C:\\Temp\\a b.exe ,x\n${name},run me.bat,x\nFileHash-SHA256,${sha256},x\nurl,evil-host[.]top,x\nip:port,198.51.101.23:443,x\nSender email,a@evil-host[.]top,x\nMutex,Global\\abc,x\nCVE,CVE-2026-12345,x\n`,
    );
    checkPassages(parsed);
    expect(values(parsed)).toEqual([
      'ipv4 198.51.101.23',
      'domain evil-host.top',
      `sha256 ${sha256}`,
      'file_path C:\\Temp\\a b.exe',
      'file_name run me.bat',
    ]);
    expect(mappings(parsed)).toEqual([
      'observable:email a@evil-host.top',
      'observable:mutex Global\\abc',
      'cve CVE-2026-12345',
    ]);
    expect(parsed.skipped).toEqual([{ entry: '1 rows', reason: 'contain no indicator' }]);
  });

  test('reads what a sample leaves on a host from the columns beside its hash', () => {
    const parsed = parseList(
      `SHA256,fileName,File Path,Registry Key,Command Line,Mutex,Sender Email,Abuse Email,Malware\n${sha256},invoice march.exe,C:\\Users\\Public\\x.dll,HKCU\\Software\\Zz,x.exe /s,Global\\zz,a@evil-host.top,noc@carrier.test,Unknown malware\n`,
    );
    checkPassages(parsed);
    expect(values(parsed)).toEqual([
      `sha256 ${sha256}`,
      'file_name invoice march.exe',
      'file_path C:\\Users\\Public\\x.dll',
      'registry_key HKEY_CURRENT_USER\\Software\\Zz',
      'command_line x.exe /s',
    ]);
    expect(mappings(parsed)).toEqual(['observable:email a@evil-host.top', 'observable:mutex Global\\zz']);
    expect(parsed.records[0]!.classification.malware).toEqual([]);
  });

  test.each([
    ['ASN  |  ASname  |  ipaddr  |  lastseen  |  category', 60],
    ['ASN  |  ASname  |  saddr  |  utc  |  category', 10],
  ])('reads a header among comments that explain it: %s', (header, comments) => {
    const explanation = '# The fields are explained below, with all of their terms.\n'.repeat(comments);
    const parsed = parseList(
      `${explanation}# ${header}\n${explanation}64496  |  EXAMPLE-AS  |  198.51.101.23  |  2026-03-01 10:00:00  |  login\n`,
    );
    expect(values(parsed)).toEqual(['ipv4 198.51.101.23']);
    expect(parsed.records[0]!.iocs.ipv4[0]!.lastSeen).toBe('2026-03-01T10:00:00.000Z');
  });

  test('reads the items of a list whose dashes have no space behind them', () =>
    expect(values(parseList('-evil-host.top\n-198.51.101.23\n'))).toEqual([
      'ipv4 198.51.101.23',
      'domain evil-host.top',
    ]));

  test('reads columns of addresses whose names are written as one word', () => {
    const parsed = parseList(
      'networksourceipv4,destinationip,ip_str,hostname\n198.51.101.23,198.51.101.24,198.51.101.25,z?\u0011~@??/??I\n',
    );
    expect(values(parsed)).toEqual(['ipv4 198.51.101.23', 'ipv4 198.51.101.24', 'ipv4 198.51.101.25']);
    expect(mappings(parsed)).not.toContainEqual(expect.stringContaining('email'));
  });

  test('reads a header that ends with commas, and paths of symbols', () => {
    const parsed = parseList(
      `Indicator,Data,Notes,\nip,198.51.101.23,A process (Tactic: Discovery),Discovery\nfilename,v64,Believed to be C2,\npdb path,C:\\a\\b.pdb,x,\n`,
    );
    checkPassages(parsed);
    expect(values(parsed)).toEqual(['ipv4 198.51.101.23', 'file_name v64']);
    expect(mappings(parsed)).toEqual(['observable:pdb C:\\a\\b.pdb']);
    expect(parsed.records[0]!.storedText.split('\n')[0]).toBe(
      'indicator: ip, data: 198.51.101.23, notes: A process (Tactic: Discovery), 3: Discovery',
    );
  });

  test('finds the values below a header in another language', () => {
    const parsed = parseList(
      'Indikator;IOC-Beschreibung;Host-Art\n198[.]51[.]101[.]23;C2-Server;Server\nhxxps://evil-host[.]top/login;Phishing-Seite;Seite\n',
    );
    checkPassages(parsed);
    expect(values(parsed)).toEqual(['ipv4 198.51.101.23', 'url https://evil-host.top/login']);
  });

  test('reads the names between the values of a plain list', () => {
    const parsed = parseList(
      `# Indicators\n\n## LummaStealer\n${sha256}\n\nMagicRAT C2s:\nhxxp://evil-host[.]top/a\n\nIPs\n198[.]51[.]101[.]23\n`,
      'named.txt',
    );
    checkPassages(parsed);
    const [record] = parsed.records;
    expect(record).toMatchObject({
      title: 'named',
      classification: { malware: [{ name: 'Lumma Stealer' }, { name: 'MagicRAT' }] },
    });
    expect(record!.storedText.split('\n')).toEqual([
      `${sha256}, LummaStealer`,
      'hxxp://evil-host[.]top/a, MagicRAT',
      '198[.]51[.]101[.]23',
    ]);
    expect(parsed.skipped).toEqual([{ entry: '1 rows', reason: 'contain no indicator' }]);
  });

  test('reads every value of a cell and columns with names in the plural', () => {
    const parsed = parseList(
      `Campaign,C2 Domains,IP Addresses,SHA-256\nOne,"evil-host.top, evil-cdn[.]top","198.51.101.23\n198.51.101.24",${sha256}\n`,
    );
    checkPassages(parsed);
    expect(values(parsed)).toEqual([
      'ipv4 198.51.101.23',
      'ipv4 198.51.101.24',
      'domain evil-host.top',
      'domain evil-cdn.top',
      `sha256 ${sha256}`,
    ]);
  });

  test.each([
    ['Hash (SHA256)', sha256, `sha256 ${sha256}`],
    ['Sample MD5', 'a'.repeat(32), `md5 ${'a'.repeat(32)}`],
    ['IP:Port', '198.51.101.23:443', 'ipv4 198.51.101.23'],
    ['C2 IP Address', '198.51.101.23', 'ipv4 198.51.101.23'],
    ['Domain/IP', '198.51.101.23', 'ipv4 198.51.101.23'],
    ['IP or Domain', 'evil-host.top', 'domain evil-host.top'],
  ])('knows the column %j', (name, value, expected) => {
    expect(values(parseList(`Country,${name},Remark\nDE,${value},seen at good-host.top\n`))).toEqual([expected]);
  });

  test('ends the validity of a value where its row does, and drops what its row calls harmless', () => {
    const [record] = csv.parse(
      [
        {
          name: 'x.csv',
          bytes: Buffer.from(
            'IOC, Valid From, Valid Until, Verdict, Threat Actor\nevil-host.top,2026-03-01,2026-03-11,malicious,Sofacy\ngood-host.top,2026-03-01,,Benign,\n',
          ),
        },
      ],
      { reliability: 0.7 },
    ).records;
    expect(record!.iocs.domains).toMatchObject([
      { status: 'active', ttlDays: 10, firstSeen: '2026-03-01T00:00:00.000Z' },
      { status: 'false_positive', ttlDays: 180 },
    ]);
    expect(record!.classification.actor).toMatchObject([{ name: 'APT28' }]);
  });

  test('reads the malware among the tags of a row', () => {
    const [record] = parseList(
      'url,tags\nhttp://evil-host.top/a,"elf,mirai,32-bit"\nhttp://evil-host.top/b,emotet\n',
    ).records;
    expect(record!.classification.malware.map(({ name }) => name)).toEqual(['Mirai', 'Emotet']);
  });

  test.each([
    ['# TLP:AMBER+STRICT\nip\n198.51.101.23\n', 'AMBER+STRICT'],
    ['# Sharing: tlp: green\n198.51.101.23\n', 'GREEN'],
    ['ip,tlp\n198.51.101.23,clear\n198.51.101.24,TLP:RED\n', 'RED'],
    ['# No marking\n198.51.101.23\n', undefined],
  ])('keeps the marking of a list: %j', (text, tlp) => expect(parseList(text).records[0]!.tlp).toBe(tlp));

  test('reads several columns without a header, without name servers and links', () => {
    const parsed = parseList(
      [1, 2, 3]
        .map(
          (one) =>
            `evil-host${one}.top,198.51.101.${one},ns${one}.evil-dns.top,203.0.114.${one},http://reports.example/manual.txt`,
        )
        .join('\n'),
    );
    expect(values(parsed)).toHaveLength(6);
    expect(values(parsed).join()).not.toMatch(/evil-dns|203\.0|reports/);
  });

  test.each([
    ['hosts file with tabs', '127.0.0.1\tlocalhost\n0.0.0.0\tevil-host.top\n0.0.0.0\tevil-cdn.top\n'],
    [
      'Adblock',
      '[Adblock Plus 2.0]\n! Title: A list\n||evil-host.top^\n||evil-cdn.top^$important\n@@||good-host.top^\n',
    ],
    ['dnsmasq', 'address=/evil-host.top/0.0.0.0\nserver=/evil-cdn.top/\n'],
    ['Unbound', 'local-zone: "evil-host.top" always_nxdomain\nlocal-zone: "evil-cdn.top" redirect\n'],
    ['response policy zone', 'evil-host.top CNAME .\n*.evil-host.top CNAME .\nevil-cdn.top IN CNAME .\n'],
    ['bullets', '- evil-host[.]top\n* `evil-cdn[.]top`\n'],
  ])('reads block rules: %s', (_, text) => {
    const [record] = parseList(text).records;
    expect(record!.iocs.domains.map(({ normalizedValue }) => normalizedValue)).toEqual([
      'evil-host.top',
      'evil-cdn.top',
    ]);
  });

  test('reads UTF-16 and windows-1252', () => {
    const text = 'indicator,note\nevil-host.top,caf\u00e9\n';
    for (const bytes of [Buffer.from(`\ufeff${text}`, 'utf16le'), Buffer.from(text, 'latin1')]) {
      const parsed = parseList(bytes);
      checkPassages(parsed);
      expect(parsed.records[0]!.storedText).toContain('note: caf\u00e9');
      expect(values(parsed)).toEqual(['domain evil-host.top']);
    }
  });

  test.each([
    [
      'Markdown with a table',
      `# Campaign of Emotet\n\n## Indicators of compromise\n\n| Indicator | Type |\n|---|---|\n| \`${sha256}\` | SHA-256 |\n| 198.51.101[.]23 | IPv4 |\n| evil-host[.]top | Domain |\n`,
      'Campaign of Emotet',
    ],
    [
      'AsciiDoc',
      `= Campaign of Emotet\n\nThe report describes it.\n\n== Samples\n|===\n|SHA-256 |Detection\n|\`${sha256}\` |Win32/Emotet\n|===\n\n== Network\n- 198.51.101[.]23\n- evil-host[.]top\n`,
      'Campaign of Emotet',
    ],
    [
      'lines with remarks',
      `Emotet indicators\n\nSHA256 hashes of samples:\n${sha256} - loader\n\nC2 servers\n198.51.101[.]23:443 (new)\nevil-host[.]top (registered in March)\n`,
      'A list',
    ],
  ])('reads the values between the lines of a text: %s', (_, text, title) => {
    const { records, skipped } = csv.parse([{ name: 'x.md', bytes: Buffer.from(text) }], {
      reliability: 0.7,
      sourceName: 'A list',
    });
    checkPassages({ records, skipped });
    expect(records[0]).toMatchObject({ recordId: 'x.md', title, classification: { malware: [{ name: 'Emotet' }] } });
    expect(values({ records, skipped })).toEqual(['ipv4 198.51.101.23', 'domain evil-host.top', `sha256 ${sha256}`]);
    expect(skipped).toEqual([]);
  });

  test('reads the indicators of reports in JSON with their actor and marking', () => {
    const pulse = { name: 'One', adversary: 'Fancy Bear', TLP: 'green', tags: ['emotet'], malware_families: [] };
    const indicators = [
      { indicator: 'evil-host.top', type: 'domain', created: '2026-03-01T00:00:00' },
      { indicator: sha256, type: 'FileHash-SHA256', created: '2026-03-01T00:00:00' },
    ];
    const parsed = parseList(JSON.stringify({ count: 1, results: [{ ...pulse, indicators }] }));
    const alone = parseList(JSON.stringify({ ...pulse, references: ['https://reports.example/1'], indicators }));
    expect(alone.records[0]!.iocs).toEqual(parsed.records[0]!.iocs);
    expect(values(parsed)).toEqual(['domain evil-host.top', `sha256 ${sha256}`]);
    expect(parsed.records[0]).toMatchObject({
      tlp: 'GREEN',
      classification: { actor: [{ name: 'APT28' }], malware: [{ name: 'Emotet' }] },
    });
  });

  test('reads systems by their number and times since 1970', () => {
    const systems = parseList('; A list\nAS64500 ; XX | One\nAS64501 ; XX | Two\n; EOF\n');
    expect(mappings(systems)).toEqual(['observable:asn AS64500', 'observable:asn AS64501']);
    expect(systems.records[0]!.title).toBe('A list');
    const dated = parseList('ip,last_seen\n198.51.101.23,1772445600\n198.51.101.24,?\n');
    expect(dated.records[0]!.iocs.ipv4[0]!.lastSeen).toBe('2026-03-02T10:00:00.000Z');
  });

  test('takes no address from the comments of a list', () => {
    const text =
      '# See https://publisher.example/about\n\nFoo of evil-host[.]top\nBar of evil-cdn[.]top\nMore words here\n';
    expect(values(parseList(text))).toEqual(['domain evil-host.top', 'domain evil-cdn.top']);
  });

  test('rejects a page of HTML, even one with addresses', () =>
    expect(() => parseList('<html><body>Blocked: evil-host[.]top</body></html>')).toThrow(/a page of HTML/));
});
