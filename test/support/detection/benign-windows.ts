type Event = Record<string, unknown>;
const sysmon = 'Microsoft-Windows-Sysmon/Operational';
const system32 = 'C:\\Windows\\System32\\';
let second = 0;

function at(): string {
  second += 7;
  return new Date(Date.UTC(2030, 0, 7, 9) + second * 1000).toISOString();
}

const event = (id: number, channel: string, fields: Event): Event => ({
  '@timestamp': at(),
  EventID: id,
  Channel: channel,
  Hostname: 'WS-901',
  ...fields,
});
const start = (parent: string, image: string, commandLine: string, user = 'NT AUTHORITY\\SYSTEM'): Event =>
  event(1, sysmon, { User: user, Image: image, CommandLine: commandLine, ParentImage: parent });
const registry = (image: string, key: string, value: string): Event =>
  event(13, sysmon, { Image: image, TargetObject: key, Details: value });
const file = (image: string, name: string): Event => event(11, sysmon, { Image: image, TargetFilename: name });
const connection = (image: string, ip: string, port = '443'): Event =>
  event(3, sysmon, { Image: image, User: 'HALDEN\\ada', Initiated: 'true', DestinationIp: ip, DestinationPort: port });
const script = (text: string): Event =>
  event(4104, 'Microsoft-Windows-PowerShell/Operational', { AccountName: 'adm-lea', ScriptBlockText: text });

const admin = 'HALDEN\\adm-lea';
const user = 'HALDEN\\ada';
const explorer = 'C:\\Windows\\explorer.exe';
const cmd = `${system32}cmd.exe`;
const powershell = `${system32}WindowsPowerShell\\v1.0\\powershell.exe`;
const ccm = 'C:\\Windows\\CCM\\CcmExec.exe';
const runKey = 'HKU\\S-1-5-21-1-2-3-1104\\Software\\Microsoft\\Windows\\CurrentVersion\\Run\\';

const softwareInstallation = [
  start(
    explorer,
    `${system32}msiexec.exe`,
    '"C:\\Windows\\System32\\msiexec.exe" /i "C:\\Users\\ada\\Downloads\\tool.msi"',
    user,
  ),
  start(`${system32}services.exe`, `${system32}msiexec.exe`, 'C:\\Windows\\system32\\msiexec.exe /V'),
  start(`${system32}msiexec.exe`, `${system32}regsvr32.exe`, 'regsvr32.exe /s "C:\\Program Files\\Vendor\\shell.dll"'),
  start(explorer, 'C:\\Users\\ada\\Downloads\\ChromeSetup.exe', 'C:\\Users\\ada\\Downloads\\ChromeSetup.exe', user),
  registry(
    'C:\\Users\\ada\\AppData\\Local\\Microsoft\\Teams\\Update.exe',
    `${runKey}com.squirrel.Teams.Teams`,
    'C:\\Users\\ada\\AppData\\Local\\Microsoft\\Teams\\Update.exe --processStart "Teams.exe"',
  ),
  registry(
    'C:\\Users\\ada\\AppData\\Local\\Microsoft\\OneDrive\\OneDriveSetup.exe',
    `${runKey}OneDrive`,
    '"C:\\Users\\ada\\AppData\\Local\\Microsoft\\OneDrive\\OneDrive.exe" /background',
  ),
  registry(
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    `${runKey}GoogleChromeAutoLaunch`,
    '"C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe" --no-startup-window',
  ),
  start(
    'C:\\Program Files (x86)\\Vendor\\setup.exe',
    `${system32}netsh.exe`,
    'netsh advfirewall firewall add rule name="Vendor" dir=in action=allow program="C:\\Program Files (x86)\\Vendor\\srv.exe"',
  ),
  event(7045, 'System', {
    ServiceName: 'VendorService',
    ImagePath: '"C:\\Program Files (x86)\\Vendor\\srv.exe"',
    AccountName: 'LocalSystem',
  }),
  event(7045, 'System', {
    ServiceName: 'edgeupdate',
    ImagePath: '"C:\\Program Files (x86)\\Microsoft\\EdgeUpdate\\MicrosoftEdgeUpdate.exe" /svc',
    AccountName: 'LocalSystem',
  }),
  start(
    'C:\\Program Files (x86)\\Google\\GoogleUpdater\\updater.exe',
    `${system32}schtasks.exe`,
    'schtasks /create /tn GoogleUpdaterTaskSystem /tr "C:\\Program Files (x86)\\Google\\GoogleUpdater\\updater.exe --wake --system" /sc hourly',
  ),
  event(4698, 'Security', {
    SubjectUserName: 'ada',
    TaskName: '\\OneDrive Standalone Update Task',
    TaskContent:
      '<Task><Actions><Exec><Command>%localappdata%\\Microsoft\\OneDrive\\OneDriveStandaloneUpdater.exe</Command></Exec></Actions></Task>',
  }),
];
const management = [
  start(
    ccm,
    powershell,
    'powershell.exe -NoLogo -Noninteractive -NoProfile -ExecutionPolicy Bypass "& \'C:\\Windows\\CCM\\SystemTemp\\c8a1.ps1\'"',
  ),
  start(ccm, cmd, 'cmd.exe /c "C:\\Windows\\ccmcache\\3\\install.cmd"'),
  start(ccm, `${system32}cscript.exe`, 'cscript.exe //nologo C:\\Windows\\ccmcache\\3\\inventory.vbs'),
  start(`${system32}wbem\\WmiPrvSE.exe`, powershell, 'powershell.exe -File C:\\Windows\\CCM\\Scripts\\health.ps1'),
  start(
    `${system32}gpscript.exe`,
    `${system32}wscript.exe`,
    'wscript.exe \\\\halden.example\\SysVol\\halden.example\\scripts\\drives.vbs',
    user,
  ),
  start(
    `${system32}winrshost.exe`,
    powershell,
    'PowerShell -NoProfile -NonInteractive -ExecutionPolicy Unrestricted -EncodedCommand RwBlAHQALQBTAGUAcgB2AGkAYwBlACAALQBOAGEAbQBlACAAVwBpAG4AUgBNACAAfAAgAEYAbwByAG0AYQB0AC0ATABpAHMAdAA=',
    'HALDEN\\svc-ansible',
  ),
  start(
    `${system32}svchost.exe`,
    `${system32}wsmprovhost.exe`,
    'C:\\Windows\\system32\\wsmprovhost.exe -Embedding',
    admin,
  ),
  script('Get-ADComputer -Filter * | Where-Object Enabled | Export-Csv C:\\Reports\\hosts.csv'),
  script('Invoke-WebRequest -Uri https://download.vendor.example/agent.msi -OutFile C:\\Install\\agent.msi'),
  script('Get-NetFirewallRule -Enabled True; Get-NetTCPConnection -State Listen'),
  start(explorer, `${system32}mmc.exe`, 'mmc.exe C:\\Windows\\System32\\dsa.msc', admin),
  start(cmd, `${system32}net.exe`, 'net use Z: \\\\fs-01\\data', user),
  start(cmd, `${system32}net.exe`, 'net localgroup administrators', admin),
  start(cmd, `${system32}ipconfig.exe`, 'ipconfig /all', user),
  start(cmd, `${system32}whoami.exe`, 'whoami', admin),
  start(
    cmd,
    `${system32}reg.exe`,
    'reg export HKLM\\SYSTEM\\CurrentControlSet\\Services\\Vendor C:\\Backup\\vendor.reg',
    admin,
  ),
  start(cmd, `${system32}sc.exe`, 'sc query wuauserv', admin),
  start(cmd, `${system32}net.exe`, 'net stop spooler', admin),
  event(4732, 'Security', {
    SubjectUserName: 'adm-lea',
    TargetUserName: 'Users',
    TargetSid: 'S-1-5-32-545',
    MemberSid: 'S-1-5-21-1-2-3-1500',
  }),
  event(4769, 'Security', {
    TargetUserName: 'ada@HALDEN',
    ServiceName: 'FS-01$',
    TicketEncryptionType: '0x12',
    Status: '0x0',
  }),
  event(5145, 'Security', {
    SubjectUserName: 'WS-9$',
    IpAddress: '10.20.0.9',
    ShareName: '\\\\*\\IPC$',
    RelativeTargetName: 'samr',
    AccessMask: '0x12019f',
  }),
];
const backupAndSecurity = [
  start('C:\\Program Files\\Backup Agent\\agent.exe', `${system32}vssadmin.exe`, 'vssadmin list shadows'),
  start(
    'C:\\Program Files\\Backup Agent\\agent.exe',
    `${system32}vssadmin.exe`,
    'vssadmin resize shadowstorage /for=C: /on=C: /maxsize=10%',
  ),
  start(
    'C:\\Program Files\\Backup Agent\\agent.exe',
    `${system32}wbadmin.exe`,
    'wbadmin start backup -backupTarget:E: -include:C: -quiet',
  ),
  start(
    'C:\\Program Files\\Backup Agent\\agent.exe',
    'C:\\Program Files\\7-Zip\\7z.exe',
    '7z.exe a -tzip E:\\Backup\\docs.zip C:\\Data',
  ),
  ...Array.from({ length: 80 }, (_, n) =>
    file('C:\\Program Files\\Backup Agent\\agent.exe', `E:\\Backup\\set${n % 5}\\part${n}.vbk`),
  ),
  event(10, sysmon, {
    SourceImage: 'C:\\ProgramData\\Microsoft\\Windows Defender\\Platform\\4.18\\MsMpEng.exe',
    TargetImage: `${system32}lsass.exe`,
    GrantedAccess: '0x101000',
    CallTrace: 'ntdll.dll+9c524',
  }),
  event(10, sysmon, {
    SourceImage: 'C:\\Program Files\\Vendor EDR\\sensor.exe',
    TargetImage: `${system32}lsass.exe`,
    GrantedAccess: '0x1410',
    CallTrace: 'ntdll.dll+9c524|sensor.exe+1',
  }),
  event(10, sysmon, {
    SourceImage: `${system32}wbem\\wmiprvse.exe`,
    TargetImage: `${system32}lsass.exe`,
    GrantedAccess: '0x1410',
    CallTrace: 'ntdll.dll+9c524',
  }),
  start(
    'C:\\ProgramData\\Microsoft\\Windows Defender\\Platform\\4.18\\MsMpEng.exe',
    'C:\\ProgramData\\Microsoft\\Windows Defender\\Platform\\4.18\\MpCmdRun.exe',
    'MpCmdRun.exe SignaturesUpdateService -UnmanagedUpdate',
  ),
  registry(
    'C:\\ProgramData\\Microsoft\\Windows Defender\\Platform\\4.18\\MsMpEng.exe',
    'HKLM\\SOFTWARE\\Microsoft\\Windows Defender\\Signature Updates\\LastUpdate',
    'Binary Data',
  ),
  registry(
    `${system32}svchost.exe`,
    'HKLM\\SOFTWARE\\Policies\\Microsoft\\Windows Defender\\Exclusions\\Paths\\D:\\SQLData',
    'DWORD (0x00000000)',
  ),
];
const updatesAndDesktop = [
  start(
    `${system32}svchost.exe`,
    `${system32}wuauclt.exe`,
    '"C:\\Windows\\system32\\wuauclt.exe" /RunStoreAsComServer',
  ),
  start(
    `${system32}services.exe`,
    'C:\\Windows\\servicing\\TrustedInstaller.exe',
    'C:\\Windows\\servicing\\TrustedInstaller.exe',
  ),
  start(`${system32}svchost.exe`, `${system32}rundll32.exe`, 'rundll32.exe Startupscan.dll,SusRunTask'),
  start(`${system32}svchost.exe`, `${system32}taskhostw.exe`, 'taskhostw.exe Install $(Arg0)'),
  start(explorer, `${system32}rundll32.exe`, 'rundll32.exe shell32.dll,Control_RunDLL desk.cpl', user),
  start(
    'C:\\Program Files\\Microsoft Office\\root\\Office16\\OUTLOOK.EXE',
    'C:\\Program Files\\Adobe\\Acrobat DC\\Acrobat\\Acrobat.exe',
    'Acrobat.exe "C:\\Users\\ada\\AppData\\Local\\Microsoft\\Windows\\INetCache\\Content.Outlook\\plan.pdf"',
    user,
  ),
  start(
    'C:\\Users\\ada\\AppData\\Local\\Programs\\Microsoft VS Code\\Code.exe',
    powershell,
    'powershell.exe -NoExit -Command "try { . \\"shellIntegration.ps1\\" } catch {}"',
    user,
  ),
  ...Array.from({ length: 20 }, () =>
    connection('C:\\Users\\ada\\AppData\\Local\\Microsoft\\OneDrive\\OneDrive.exe', '198.51.100.60'),
  ),
  ...Array.from({ length: 20 }, () =>
    connection('C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe', '198.51.100.61'),
  ),
  ...Array.from({ length: 20 }, () =>
    connection('C:\\Users\\ada\\AppData\\Local\\Microsoft\\Teams\\current\\Teams.exe', '198.51.100.62'),
  ),
  ...Array.from({ length: 20 }, () => connection('C:\\Program Files\\Monitoring\\agent.exe', '10.20.0.5', '8443')),
  registry(
    `${system32}svchost.exe`,
    'HKU\\S-1-5-21-1-2-3-1104\\Software\\Microsoft\\Windows\\CurrentVersion\\CapabilityAccessManager\\ConsentStore\\webcam\\NonPackaged\\C:#Program Files#Google#Chrome#Application#chrome.exe\\LastUsedTimeStart',
    'QWORD (0x01d63ed2-0x19fba509)',
  ),
  ...Array.from({ length: 60 }, (_, n) =>
    event(22, sysmon, { Image: `${system32}svchost.exe`, QueryName: `host${n}.cdn.example` }),
  ),
];

/** Events of ordinary work on Windows hosts: installations, management, backup, security software, updates. No detection may report more than severity low. */
export const benignWindowsEvents: readonly Event[] = [
  ...softwareInstallation,
  ...management,
  ...backupAndSecurity,
  ...updatesAndDesktop,
];
