import type { Shift } from './calendar.ts';
import { drawMoments } from './calendar.ts';
import type { Person } from './people.ts';
import type { Random } from './random.ts';
import type { LogEvent, ProcessStart } from './shapes.ts';
import { buildProcessEvent, createStamp } from './shapes.ts';

type Program = Pick<ProcessStart, 'image' | 'commandLine' | 'parent'>;

const EXPLORER = 'C:\\Windows\\explorer.exe';
const FILES = 'C:\\Program Files';

const program = (image: string, args = '', parent = EXPLORER): Program => ({
  image,
  commandLine: `"${image}"${args}`,
  parent,
});

const everyday: Program[] = [
  program(`${FILES}\\Mail\\mail.exe`),
  program(`${FILES}\\Browser\\browser.exe`, ' --profile-directory=Default'),
  program(`${FILES}\\Chat\\chat.exe`, ' --background'),
  program(`${FILES}\\Office\\sheet.exe`, ' /n "Q3 forecast.xlsx"'),
  program(`${FILES}\\Office\\writer.exe`, ' /n "offer.docx"'),
  program('C:\\Windows\\System32\\notepad.exe'),
  program('C:\\Windows\\System32\\SnippingTool.exe'),
];

const technical: Program[] = [
  program('C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe', ' -NoLogo'),
  program(`${FILES}\\Git\\cmd\\git.exe`, ' fetch --all', `${FILES}\\Editor\\editor.exe`),
  program(`${FILES}\\nodejs\\node.exe`, ' build.js', 'C:\\Windows\\System32\\cmd.exe'),
  program('C:\\Windows\\System32\\cmd.exe', ' /c whoami', `${FILES}\\Editor\\editor.exe`),
  program(`${FILES}\\Editor\\editor.exe`, ' .'),
];

/** Generates the process starts on a person's machine over a working day. */
export function* generateProcessStarts(person: Person, shift: Shift, random: Random): Generator<LogEvent> {
  const programs = person.cloud ? [...everyday, ...technical] : everyday;
  for (const at of drawMoments(shift, random.int(4, 9), random)) {
    yield buildProcessEvent(createStamp(random, at), {
      host: person.host,
      user: person.user,
      ...random.pick(programs),
    });
  }
}
