import { expect, test } from 'vitest';
import { parseNameTable } from '../dictionary/name-dictionary.ts';
import { extractNames } from '../extract-names.ts';

const read = (text: string): string[] =>
  extractNames(text, parseNameTable(''))
    .map(({ kind, name }) => `${kind} ${name}`)
    .toSorted();

// No list has these names.
test.each([
  [
    'Das Amt warnt vor der Schadsoftware «Dunkelbau» und der Hackergruppe «Graureiher», die das Netz der Behörde angriff.',
    ['actor Graureiher', 'malware Dunkelbau'],
  ],
  [
    'Die APT-Gruppen wie NordWind und GrauStern griffen an. NordWind nutzt den ZorbKal-Loader und das Netz der Stadt.',
    ['actor GrauStern', 'actor NordWind', 'malware ZorbKal'],
  ],
  ['Der Trojaner Daten stehlen lässt, und die Malware Angriffe auf Banken ausführt, sagte der Sprecher der Firma.', []],
  [
    'Les chercheurs ont découvert une porte dérobée baptisée Quillair, utilisée par le groupe Zorbine contre les ministères.',
    ['actor Zorbine', 'malware Quillair'],
  ],
  ['Le groupe Carrefour et le groupe Orange sont touchés. Les clients sont prévenus dans une lettre.', []],
  [
    'Investigadores detectaron un malware llamado Quillaris, usado por el grupo de ransomware Zorro Gris para los ataques.',
    ['actor Zorro Gris', 'malware Quillaris'],
  ],
  [
    'Un nouveau groupe de pirates, Quillvex, a utilisé une porte dérobée, Zorbair, pour espionner les ministères.',
    ['actor Quillvex', 'malware Zorbair'],
  ],
  ['Se dirige a los usuarios con Zorbimer, un troyano diseñado para robar una clave.', ['malware Zorbimer']],
  ['La campaña, denominada Quilla Larga, afectó a los bancos de una región, según los expertos.', []],
  [
    'Il gruppo criminale Quillupo ha usato il trojan ZorbSpia per rubare i dati che sono nel cloud.',
    ['actor Quillupo', 'malware ZorbSpia'],
  ],
  ['Группировка Quill Lynx использует бэкдор ZorbLynx.', ['actor Quill Lynx', 'malware ZorbLynx']],
  ['攻撃グループQuillbozuはマルウェア「KazeZorb」を使用した。', ['actor Quillbozu', 'malware KazeZorb']],
  ['黑客组织QuillFox使用BambooZorb木马攻击政府机构,NATO组织表示关注。', ['actor QuillFox', 'malware BambooZorb']],
  ['해킹 그룹 HanQuill은 악성코드 DuriZorb를 유포했다.', ['actor HanQuill', 'malware DuriZorb']],
])('%s', (text, names) => {
  expect(read(text)).toEqual(names);
});

test('reads aliases in other languages', () => {
  const [found] = extractNames('该行动由APT28(又称 Fancy Bear、Sofacy)发起。');
  expect(found).toMatchObject({ kind: 'actor', name: 'APT28' });
  expect(extractNames('该行动由APT28(又称 Fancy Bear、Sofacy)发起。')).toHaveLength(1);
});

test('reads a text of many different nouns within the time of a test', () => {
  const letters = (index: number): string =>
    index
      .toString(8)
      .padStart(5, '0')
      .replaceAll(/\d/g, (digit) => 'abcdefgh'[Number(digit)]!);
  const nouns = Array.from({ length: 20_000 }, (_, index) => `X${letters(index)}`);
  expect(read(nouns.map((noun) => `und der Trojaner ${noun} kam.`).join(' '))).toEqual([]);
});
