import type { BuiltInDetection } from '../built-in-detection.ts';
import { processStart } from '../samples.ts';

const query = `
WITH starts AS (
  SELECT _id, _time, coalesce(_event->>'$.Hostname', _event->>'$.Computer', _event->>'$.host.name') AS host,
         coalesce(_event->>'$.User', _event->>'$.SubjectUserName', _event->>'$.user.name') AS "user",
         coalesce(_event->>'$.CommandLine', _event->>'$.process.command_line') AS command_line,
         coalesce(_event->>'$.ParentImage', _event->>'$.ParentProcessName', _event->>'$.process.parent.executable') AS parent
  FROM process
)
SELECT host, "user", command_line, parent, _id, _time, 'T1490' AS technique, 'critical' AS severity
FROM starts
WHERE regexp_matches(lower(command_line), concat_ws('|',
  'vssadmin(\\.exe)?"?\\s+delete\\s+shadows', 'vssadmin(\\.exe)?"?\\s+resize\\s+shadowstorage.*maxsize=[0-9]{1,3}mb',
  'wmic(\\.exe)?"?\\s+shadowcopy\\s+delete', 'wbadmin(\\.exe)?"?\\s+delete\\s+(catalog|systemstatebackup|backup)',
  'bcdedit(\\.exe)?"?\\s+/set\\s+.*(recoveryenabled\\s+no|bootstatuspolicy\\s+ignoreallfailures)',
  'win32_shadowcopy.*(delete\\(|remove-wmiobject|remove-ciminstance)'))
`;

export const recoveryInhibited: BuiltInDetection = {
  id: 'recovery-inhibited',
  name: 'Shadow copies or recovery removed on a host',
  description:
    'A command deleted shadow copies or backups, or disabled recovery. Ransomware does this minutes before it encrypts.',
  category: 'custom',
  systemPrompt: `You judge commands that remove the means to recover a Windows host: shadow copies, backup catalogs, startup repair.
Benign: backup software that frees space. It resizes the storage or lists copies, and runs under its own service. Deleting all shadow copies from a shell is not benign.
Recommend isolating the host and searching for the same command on other hosts.`,
  headline: 'Shadow copies or recovery removed on {{host}} by {{user}} ({{command_line}})',
  query,
  cadence: 'hourly',
  dataset: 'process',
  entityField: 'host',
  suppressionMinutes: 60,
  tags: ['windows', 'impact', 'attack.t1490'],
  sample: {
    match: [
      processStart('FS-01', 'vssadmin.exe delete shadows /all /quiet'),
      processStart('FS-02', 'bcdedit.exe /set {default} recoveryenabled No'),
    ],
    noMatch: [
      processStart('BK-01', 'vssadmin.exe list shadows'),
      processStart('BK-01', 'vssadmin.exe resize shadowstorage /for=C: /on=C: /maxsize=20%'),
      processStart('BK-01', 'wbadmin.exe start backup -backupTarget:E: -include:C: -quiet'),
      processStart('WS-01', 'bcdedit.exe /enum'),
    ],
    entities: ['FS-01', 'FS-02'],
  },
};
