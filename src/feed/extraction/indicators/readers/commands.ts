import { matchAt, type EmitCandidate } from '../indicator-candidate.ts';

const interpreters = new Set(
  `powershell pwsh cmd rundll32 regsvr32 mshta wscript cscript schtasks reg net net1 sc wmic certutil bitsadmin vssadmin bcdedit wevtutil
  msiexec netsh nltest whoami ipconfig systeminfo tasklist taskkill ntdsutil psexec procdump mimikatz rclone curl wget chmod crontab nohup
  launchctl osascript systemctl iptables icacls takeown attrib fsutil wbadmin cipher installutil msbuild forfiles esentutl`.split(
    /\s+/,
  ),
);
// The rest of the line, code span or quotation.
const line = /[^\r\n`\u201C\u201D]{4,1000}/y;
const proseWord =
  /\b(?:the|and|was|were|which|that|this|is|are|has|have|can|will|used|uses|using|command|commands|script|process)\b/gi;

/**
 * Reads a command line: an interpreter or system tool at the start of a line or code span, followed by an option, a path or an address
 * rather than prose. Returns `end`, so that the scan also reads the values inside the command.
 */
export function readCommand(text: string, start: number, end: number, emit: EmitCandidate): number {
  if (end - start > 12 || !mayPrecedeCommand(text, start)) return end;
  const word = text.slice(start, end);
  if (!interpreters.has(word.toLowerCase())) return end;
  const before = text[start - 1] ?? '\n';
  if (
    !/[\n`"\u201C>$#|\t]/.test(before) &&
    !/(?:^|\n)[ \t>$#*|-]{1,12}$/.test(text.slice(Math.max(0, start - 14), start))
  )
    return end;
  const rest = matchAt(line, text, start);
  if (!rest) return end;
  let length = rest[0].length;
  if (before === '"') length = Math.min(length, closingQuote(rest[0]));
  const cell = before === '|' || before === '\t' ? rest[0].search(/[|\t]/) : -1;
  const command = rest[0].slice(0, cell > 0 ? cell : length).trimEnd();
  const arguments_ = command.slice(word.length).replace(/^\.exe/i, '');
  const reads = /\s[/-]{1,2}\w|[\\%$]|\.[a-z]\w{1,3}\b|https?:/.test(arguments_);
  const prose = arguments_.match(proseWord)?.length ?? 0;
  if (reads && prose <= 1 && command.length >= 8) emit('command_line', start, start + command.length);
  return end;
}

// The start of a line, a quote, a prompt or a bullet.
const openers = new Uint8Array(0x1_0000);
openers.fill(1, 0, 0x25);
for (const char of '*->`|\u201C') openers[char.charCodeAt(0)] = 1;

/** Returns whether the text before a word is an opener (optionally followed by one space) or the start of the text. */
export function mayPrecedeCommand(text: string, start: number): boolean {
  const before = start > 0 && text.charCodeAt(start - 1) === 0x20 ? start - 2 : start - 1;
  return before < 0 || openers[text.charCodeAt(before)] === 1;
}

function closingQuote(rest: string): number {
  const at = rest.lastIndexOf('"');
  return at > 0 ? at : rest.length;
}
