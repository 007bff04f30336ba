import { expect, test } from 'vitest';
import { extractTechniques } from './extract-techniques.ts';
import { findSentences } from '../text/sentence-spans.ts';

const read = (text: string): Record<string, string> =>
  Object.fromEntries(extractTechniques(text).map(({ technique, by }) => [technique.id, by]));

/** Reads a sentence of a report on attackers. */
const readReported = (text: string): Record<string, string> => read(`The attackers came on Monday.\n${text}`);

test('reads no techniques in what an administrator does', () => {
  const text =
    'Every night a scheduled task starts a PowerShell script on our file server. It stops the database services with PsExec, deletes old shadow copies with vssadmin and copies the archives with rclone to cloud storage.';
  expect(read(text)).toEqual({});
  expect(readReported(text)).not.toEqual({});
});

test('assigns a high confidence to an id and returns its sentence', () => {
  const text = 'It began with mail. The victim opened an attachment [T1566.001]. Then it slept.';
  const [found] = extractTechniques(text);
  expect(found).toMatchObject({ technique: { id: 'T1566.001' }, by: 'id', confidence: 0.95 });
  expect(text.slice(found!.sentence.start, found!.sentence.end)).toBe('The victim opened an attachment [T1566.001].');
});

test('maps a revoked id to its successor and ignores an unknown id', () => {
  expect(Object.keys(read('Seen: T1086 and T1999.'))).toEqual(['T1059.001']);
  expect(read('tags: [attack.persistence, attack.t1547.001]')['T1547.001']).toBe('id');
});

test('matches a name in the case of ATT&CK only', () => {
  expect(read('The actor relied on Process Hollowing here.')['T1055.012']).toBe('name');
  expect(read('They sell data from local system shops and valid accounts.')['T1078']).not.toBe('name');
});

test('ignores a technique name that is also a part of Windows', () => {
  expect(read('Open the Control Panel and select Programs.')['T1218.002']).toBeUndefined();
  expect(read('It runs a Control Panel file [T1218.002].')['T1218.002']).toBe('id');
});

test('recognizes a paraphrased technique', () => {
  expect(
    read('The malware creates a scheduled task named Updater to run its payload every hour and keep persistence.')[
      'T1053.005'
    ],
  ).toBe('sentence');
  expect(
    readReported(
      'It copies itself to the Run registry key HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run to start at logon.',
    )['T1547.001'],
  ).toBe('sentence');
});

test.each([
  ['The attackers dropped a web shell on the mail server.', 'T1505.003'],
  ['Before they left, the operators deployed Zyntra ransomware on every domain member.', 'T1486'],
  ['The locker encrypts files on all mapped drives. A ransom note follows.', 'T1486'],
  ['They exploited a public-facing Confluence server.', 'T1190'],
  ['The flaw in the VPN gateway, which could allow code execution, is being exploited in the wild.', 'T1190'],
  ['Finally the ransomware encrypted files on all hosts.', 'T1486'],
  ['The group exploited CVE-2031-1234 in an internet-facing Ivanti appliance.', 'T1190'],
  ['The campaign begins with phishing emails that carry a ZIP attachment.', 'T1566.001'],
  ['Victims were tricked into running the installer.', 'T1204.002'],
  ['They logged in through the VPN with stolen credentials.', 'T1078'],
  ['A signed program side-loads the DLL.', 'T1574.001'],
  ['The caller bombarded the employee with push notifications until one was approved.', 'T1621'],
  ['Distributed denial-of-service attacks hit the railway on Sunday.', 'T1498'],
  ["Attackers hijacked the maintainer's npm account and published new versions.", 'T1195.001'],
  ['Two malicious npm packages stole tokens from developers.', 'T1195.001'],
  ['The implant reads its commands from a GitHub gist. Commands are fetched from a gist every hour.', 'T1102'],
  ['The gang encrypted servers and demanded a ransom.', 'T1486'],
  ['The wiper overwrote files on hundreds of computers.', 'T1485'],
  ['The compromised servers mine Monero.', 'T1496'],
  ['The intruders stole OAuth tokens of two applications.', 'T1528'],
  ['A new local administrator account was created on the server.', 'T1136'],
  ['The group stole 40 million dollars in cryptocurrency.', 'T1657'],
  ['The caller posed as the IT help desk.', 'T1684.001'],
  ['The actors registered look-alike domains of the bank.', 'T1583.001'],
  ['The script disables Windows Defender before the payload runs.', 'T1685'],
  ['The gang deleted all backups of the hospital.', 'T1490'],
  ['The hosts were left with a ransom note in every folder.', 'T1486'],
  ['Before it encrypts files, the ransomware stops the services of databases.', 'T1489'],
  ['The operators compressed the stolen documents with WinRAR.', 'T1560.001'],
  ['The data was exfiltrated to a cloud storage service.', 'T1567'],
  ['The implant enumerates running processes and domain groups.', 'T1057'],
  ['The implant enumerates running processes and domain groups.', 'T1069'],
  ['They ran AdFind and saved its output.', 'T1087'],
  ['It determines which antivirus software is installed.', 'T1518.001'],
  ['The backdoor retrieves the public IP address of the host.', 'T1016'],
  ['The attackers modified the timestamps of the files.', 'T1070.006'],
  ['After that, the dropper deletes itself.', 'T1070.004'],
  ['A renamed copy of the debugger runs the code.', 'T1036.003'],
  ['The LNK file is disguised as a report and launches a script.', 'T1204.002'],
  ['They logged in through RDP from a foreign address.', 'T1133'],
  ['The library is loaded into memory via .NET reflection.', 'T1620'],
  ['The locker runs inside a virtual machine that the attackers installed.', 'T1564.006'],
  ['A caller who pretended to be the help desk contacted her in Microsoft Teams.', 'T1566.003'],
  ['The caller started Teams chats from an external account.', 'T1566.003'],
  ['They abused built-in tools such as PowerShell and WMI.', 'T1059.001'],
  ['They abused built-in tools such as PowerShell and WMI.', 'T1047'],
  ['The traffic is hidden by domain fronting.', 'T1090.004'],
  ['Access tokens were captured and used at once.', 'T1528'],
  ['A malicious inbox rule moved replies to a hidden folder.', 'T1114.003'],
  ['The worm reads secrets from environment variables.', 'T1552.001'],
  ['The page copies a command to the clipboard of its visitor. A prompt copied it to your clipboard.', 'T1204.004'],
  ['The intruder added a phone to the MFA settings of the account.', 'T1098.005'],
  ['The backdoor masquerades as Acme Viewer.', 'T1036'],
  ['The actors exploited two flaws in a virtualization product to gain initial access.', 'T1190'],
  ['The malware checks the keyboard layout and stops on some computers.', 'T1614.001'],
])('states plainly: %s', (text, id) => {
  expect(readReported(text)[id]).toMatch(/statement|sentence/);
});

test.each([
  [
    'C2 IP addresses:\n198.51.100.7\n198.51.100.9 port 443 - HTTPS traffic\n## Victim panel IP\n- IP Address: 203.0.113.9',
  ],
  ['- File location: C:\\Users\\[username]\\AppData\\Local\\Temp\\a.dll\n- File name: [removed].file.15.08.doc'],
  ['Organizations should block web shells and enable tamper protection of EDR.'],
  ['There is no evidence that ransomware was deployed.'],
  ['UAC-0341 attacked.'],
  ['Limit the use of Remote Desktop Protocol (RDP).'],
  ['Hunt for unusual scheduled tasks created by schtasks.exe.'],
  ['Our product detects process injection and credential dumping.'],
  ['Search This Blog\nFile and Directory Permissions\nRead also: Hackers exploit a Citrix flaw'],
  ['Phishing remains the most common initial vector.'],
  ['Reinforce employee training on phishing. Use Multi-Factor Authentication.'],
  ['The gang demands a ransom for decrypting the files. Victims can decrypt files for free with the tool.'],
  ['If you receive this message, do not click on any links.'],
  ['Hackers could launch DDoS attacks or deploy ransomware with this flaw.'],
  ['The flaw could be exploited to gain elevated privileges.'],
  ['Attackers often leverage PsExec and web shells.'],
  ['DLL side-loading occurs when a program loads a wrong library.'],
  ['The analysts have not observed a web shell.'],
  ['| where ProcessCommandLine has_any ("whoami", "procdump")'],
  ['Encoded commands:'],
  ['The malware is injected into packages that many developers use every day at work.'],
  ['Malicious File Transfer - Sample, Download'],
  ['The intrusion did not need a flaw, a web shell, or process injection.'],
  ['The intrusion needed no web shell.'],
  ['A web shell was not used.'],
  ['There are no recorded incidents of the Drupal flaw being exploited in the wild.'],
  ['Right-click the folder and create a new registry key.'],
  ['How to recover from a web shell'],
  ['The flaws expose thousands of sites to supply chain attacks.'],
  ['The nine flaws collectively allow a local user to crash the kernel.'],
])('states no technique: %s', (text) => {
  expect(read(text)).toEqual({});
});

test.each([
  ['Recommendations'],
  ['## 5. Mitigations and detections'],
  ['Detection opportunities:'],
  ['How to protect your network'],
  ['What organizations should do now'],
])('reads no techniques below %j up to the next title', (title) => {
  const below = 'Web shells appear beside new scheduled tasks.';
  expect(read(`The group began in May.\n\n${title}\n\n${below}\n${below}`)).toEqual({});
  expect(read(`${title}\n\n${below}\n\nAttack chain\n\n${below}`)).not.toEqual({});
});

test.each([['Detection evasion'], ['Actions of the implant'], ['Mitigation bypass'], ['Recommendations of a friend.']])(
  'reads techniques below %j',
  (title) => {
    expect(read(`${title}\n\nThe operators dropped a web shell.`)).not.toEqual({});
  },
);

test('applies a denial only to its own clause', () => {
  expect(Object.keys(read('No data was stolen, but the group dropped a web shell on the server.'))).toEqual([
    'T1505.003',
  ]);
  expect(read('There is no sign of a web shell.')).toEqual({});
});

test('does not take the side-loading of an app for that of a library', () => {
  expect(read('Users are tricked into side-loading the Android app.')['T1574.001']).toBeUndefined();
});

test('takes encrypted data for the impact of ransomware only beside a word for it', () => {
  expect(read('The archive holds encrypted data.')['T1486']).toBeUndefined();
  expect(read('The ransom note says that all files were encrypted.')['T1486']).toBeDefined();
});

test('finds no technique in an unrelated text', () => {
  expect(
    read('The museum opens at nine. Tickets cost ten euros and children enter for free on Sunday afternoons.'),
  ).toEqual({});
});

test('returns bounded, trimmed sentences in order', () => {
  const text = `${'word '.repeat(1_000)}. Next one is here.\n\n  Another line of text \n`;
  const spans = findSentences(text);
  for (const [index, { start, end }] of spans.entries()) {
    expect(end - start).toBeLessThanOrEqual(600);
    expect(text.slice(start, end)).toBe(text.slice(start, end).trim());
    if (index > 0) expect(start).toBeGreaterThanOrEqual(spans[index - 1]!.end);
  }
  expect(text.slice(spans.at(-1)!.start, spans.at(-1)!.end)).toBe('Another line of text');
});

test.each([
  ['On Monday the intruders pushed backdoored versions of four libraries to the registry.', 'T1195'],
  ['The package typosquats a popular logging library on npm.', 'T1195'],
  ['The worm republishes itself to every package that the stolen token can reach.', 'T1195'],
  ['A compromised VS Code extension ran the code on activation.', 'T1195'],
  [
    'The malicious releases were removed after three hours; malicious versions of the SDK were downloaded 900 times.',
    'T1195',
  ],
  ['The payload hides in a postinstall script of the package.', 'T1195'],
  ['A dead-drop wallet encodes the address of its server.', 'T1102'],
  ['It installs a systemd user service to start with each session.', 'T1543'],
  ['The group operated fake recruiter profiles for months.', 'T1585'],
  ['The messages were sent from a compromised email account of a supplier.', 'T1586'],
  ['The svchost process with injected code beacons every minute.', 'T1055'],
  ['It fetches a blob, decrypts it with a hard-coded key and starts the result.', 'T1140'],
  ['The module poses as a date formatting library.', 'T1036'],
  ['The loader exits on machines with fewer than four CPUs.', 'T1497'],
  ['It checks the number of cores before it starts.', 'T1497'],
  ['The script posts hostname and platform to the panel.', 'T1082'],
  ['The implant registers system info with the server.', 'T1082'],
  ['It steals browsing history and autofill data.', 'T1217'],
  ['The sample queries the Windows registry for the product key.', 'T1012'],
  ['The archives were staged in a hidden share before the transfer.', 'T1074'],
  ['They downloaded internal documents from SharePoint.', 'T1213'],
  ['The Trojan steals account credentials of game platforms.', 'T1555'],
  ['The worker reads temporary keys from the instance metadata of the VM.', 'T1552'],
  ['It reads its C2 address from a smart contract.', 'T1102'],
  ['A second module contains filesystem wipe logic.', 'T1485'],
  ['The script leverages a SQL injection flaw to write itself to the file transfer server.', 'T1190'],
  ['Sponsored search ads led to a fake installer of a text editor.', 'T1583'],
  ['The gang purchased its way in from initial access brokers.', 'T1650'],
  ['Visitors of the union page received exploits.', 'T1189'],
  ['The crew entered the plant through a contractor VPN account.', 'T1199'],
  ['The exploit triggers type confusion in V8.', 'T1203'],
  ['The intruder granted the guest user the Global Administrator role.', 'T1098'],
  ['The operator escalated privileges with a kernel vulnerability.', 'T1068'],
  ['The lure carries a double extension.', 'T1036'],
  ['The loader quits when a debugger is attached.', 'T1622'],
  ['The intruder created an inbox rule that deletes warnings.', 'T1564'],
  ['The group copied tender documents from file shares.', 'T1039'],
  ['The collected folders were then archived.', 'T1560'],
  ['Victims were asked to enter a device code.', 'T1528'],
  ['Commands are relayed over hijacked home routers.', 'T1090'],
  ['The archive leaves the network in small chunks.', 'T1030'],
  ['The gang threatened to leak the stolen documents.', 'T1657'],
])('states a parent technique plainly: %s', (sentence, parent) => {
  expect(Object.keys(readReported(sentence)).some((id) => id.startsWith(parent))).toBe(true);
});

test.each([
  ['Users should remove malicious versions of the package.', 'T1195'],
  ['Our scanner detects typosquatted packages.', 'T1195'],
  ['Injected code on the website redirected visitors.', 'T1055'],
  ['The web shell lets the actors download files stored on the appliance.', 'T1105'],
  ['The page poses as the login of a bank.', 'T1036'],
  ['The phishing site steals account credentials.', 'T1555'],
  ['The update stops the CPU overheating.', 'T1497'],
  ['The company moved its data from SharePoint to another service last year.', 'T1213'],
  ['The staging servers of the vendor were offline.', 'T1074'],
  ['A partner network of the firm was praised in the report.', 'T1199'],
  ['The team fixed a type confusion bug in its parser.', 'T1203'],
  ['Outlook rules help users sort their mail.', 'T1564'],
  ['The router forwards traffic to the office.', 'T1090'],
])('does not state the technique: %s', (sentence, parent) => {
  expect(Object.keys(read(sentence)).filter((id) => id.startsWith(parent))).toEqual([]);
});
