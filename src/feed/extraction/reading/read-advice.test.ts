import { expect, test } from 'vitest';
import { findSentences } from '../text/sentence-spans.ts';
import { claimAdvice } from './read-with-lexicon.ts';

const read = (text: string, language?: string): string[] =>
  claimAdvice({ sentences: findSentences(text), language }).map(
    ({ quote: { start, end }, ...claim }) => `${'action' in claim ? claim.action : ''}: ${text.slice(start, end)}`,
  );

test('reads what a report advises, with the action', () => {
  const text = `The flaw is exploited.
Customers should upgrade to version 9.1.4 as soon as possible.
We strongly recommend that administrators disable the web interface.
Affected devices must be disconnected from the network.
Recommendations
- Block the domains below at the proxy.
- Where possible, rotate all service account credentials.
- Hunt for scheduled tasks named SysUpdate.
- Train your employees.
What the malware does
- Disable the task manager of the machine.
- Update the configuration of the bot.`;
  expect(read(text)).toEqual([
    'update: Customers should upgrade to version 9.1.4 as soon as possible.',
    'disable: We strongly recommend that administrators disable the web interface.',
    'isolate: Affected devices must be disconnected from the network.',
    'block: Block the domains below at the proxy.',
    'rotate: Where possible, rotate all service account credentials.',
    'hunt: Hunt for scheduled tasks named SysUpdate.',
  ]);
});

test('reads a list that a sentence introduces', () => {
  const text =
    'We urge customers to take the following steps:\nReset the passwords of all accounts.\nPatch all appliances.';
  expect(read(text)).toEqual(['rotate: Reset the passwords of all accounts.', 'update: Patch all appliances.']);
});

test.each([
  'The page says that users must update their browser to watch the video.',
  'The caller convinced users that they should disable their antivirus.',
  'Victims are urged to disable their firewall before the installer runs.',
  'The note tells companies that they should not block the address.',
  'Customers should not disable the agent.',
  'Three years ago agencies were urged to patch this flaw.',
  'Agencies should have patched their servers in March.',
  'The loader can update itself, block security tools and disable logging.',
  'Should customers disable the plug-in altogether?',
  'The mail said: “You must update your password today.”',
  'Our platform customers should update to the latest signatures.',
  'NIST recommends against changing passwords regularly.',
])('reads no advice in: %s', (sentence) => expect(read(sentence)).toEqual([]));

test.each([
  ['de', 'Betroffene sollten die Updates umgehend einspielen.', 'update'],
  ['fr', 'Il est recommandé de bloquer ces adresses sur le pare-feu.', 'block'],
  ['es', 'Se recomienda cambiar todas las contraseñas de los usuarios.', 'rotate'],
  ['pt', 'As empresas devem atualizar os servidores imediatamente.', 'update'],
  ['it', 'Si raccomanda di disabilitare le macro di Office.', 'disable'],
  ['nl', 'Beheerders moeten de server zo snel mogelijk isoleren.', 'isolate'],
  ['pl', 'Należy zablokować te adresy na zaporze sieciowej.', 'block'],
  ['ru', 'Рекомендуется обновить программу до последней версии.', 'update'],
  ['uk', 'Фахівці рекомендують змінити паролі всіх користувачів.', 'rotate'],
  ['ja', '管理者は直ちに最新版にアップデートすることを推奨します。', 'update'],
  ['zh', '建议用户尽快升级到最新版本，并检查系统日志。', 'update'],
  ['ko', '이용자는 최신 버전으로 업데이트할 것을 권고한다. 즉시 조치가 필요하다.', 'update'],
])('reads advice in %s', (language, sentence, action) =>
  expect(read(sentence, language)[0]).toMatch(new RegExp(`^${action}: `)),
);

test('reads no advice that another language denies', () =>
  expect(read('Man sollte den Virenschutz nicht deaktivieren.', 'de')).toEqual([]));
