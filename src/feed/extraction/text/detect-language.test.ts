import { expect, test } from 'vitest';
import { detectLanguage } from './detect-language.ts';

test.each([
  ['en', 'The attackers used a new loader that was seen in several countries this week.'],
  ['de', 'Die Angreifer haben eine neue Schadsoftware verwendet, die auch in anderen Ländern gesehen wird.'],
  ['fr', 'Les attaquants ont utilisé un nouveau chargeur qui est vu dans plusieurs pays et sur des serveurs.'],
  ['es', 'Los atacantes han usado un nuevo cargador que se ha visto en varios países y por los servidores.'],
  ['ru', 'Злоумышленники использовали новый загрузчик, который был замечен в нескольких странах.'],
  ['uk', 'Зловмисники використали новий завантажувач, який було помічено в кількох країнах цього тижня.'],
  ['ja', '攻撃者は新しいローダーを使用しており、複数の国で確認されているとのことです。詳細は以下のとおりです。'],
  [undefined, 'abc 123'],
])('detects %s', (language, text) => {
  expect(detectLanguage(text)).toBe(language);
});
