import type { QueryTemplate } from './template.ts';

export const discovery: readonly QueryTemplate[] = [
  {
    id: 'host-discovery-burst',
    techniques: 'T1082 T1033 T1016 T1049 T1057 T1007 T1124 T1518 T1518.001 T1083 T1120 T1614'.split(' '),
    name: 'Burst of discovery commands on a host',
    kind: 'process',
    severity: 'medium',
    where: String.raw`^\S*\b(systeminfo|whoami|hostname|ipconfig|ifconfig|netstat|tasklist|quser|query\s+user|arp|route|qwinsta|driverquery|wmic|uname|lscpu|w|id|ps|ss)(\.exe)?"?(\s|$)`,
    having: (sql) => {
      const kinds = `count(DISTINCT regexp_extract(lower(${sql('command')}), '^\\S*\\b([a-z]+)(\\.exe)?"?(\\s|$)', 1))`;
      return { columns: `${kinds} AS count`, condition: `${kinds} >= 4` };
    },
    benign: 'inventory agents and support staff; the same commands then run on many hosts',
    match: ['systeminfo', 'whoami /all', 'ipconfig /all', 'netstat -ano', 'tasklist /v'].map((command) => ({
      host: 'MATCH',
      user: 'MATCH',
      command,
    })),
    noMatch: ['ipconfig /renew', 'ipconfig /all', 'hostname', 'notepad.exe a.txt'].map((command) => ({
      host: 'QUIET',
      user: 'QUIET',
      command,
    })),
  },
  {
    id: 'domain-discovery',
    techniques: ['T1482', 'T1087.002', 'T1069.002', 'T1018', 'T1087', 'T1069', 'T1615', 'T1201'],
    name: 'Domain, its trusts, or its administrators listed',
    kind: 'process',
    severity: 'medium',
    where: String.raw`nltest(\.exe)?"?\s.*/(domain_trusts|dclist|dsgetdc)|\bnet1?(\.exe)?"?\s+(group|user|accounts|view)\s.*/domain|adfind(\.exe)?|sharphound|bloodhound|get-ad(user|computer|group|trust|domain)\b|dsquery\s|powerview|get-domain(user|computer|group|trust)`,
    benign: 'directory administrators on their own workstations',
    match: [
      'nltest /domain_trusts /all_trusts',
      'net group "Domain Admins" /domain',
      'AdFind.exe -f objectcategory=computer',
    ],
    noMatch: ['net use', 'nltest /sc_query:corp'],
  },
  {
    id: 'local-account-discovery',
    techniques: ['T1087.001', 'T1069.001', 'T1087', 'T1069', 'T1135'],
    name: 'Local accounts, groups, or shares listed',
    kind: 'process',
    severity: 'low',
    where: String.raw`\bnet1?(\.exe)?"?\s+(localgroup|user|share|view)\s*("|$|\\\\|administrators)|get-local(user|groupmember)|\bcat\s+/etc/(passwd|group)\b|getent\s+(passwd|group)|dscl\s+\.\s+list`,
    benign: 'support staff and inventory agents',
    match: ['net localgroup administrators', 'cat /etc/passwd'],
    noMatch: ['net use Z: \\\\fs\\share', 'cat /etc/hosts'],
  },
  {
    id: 'network-scanner',
    techniques: ['T1046', 'T1018', 'T1135', 'T1595', 'T1595.001'],
    name: 'Network scanner started on a host',
    kind: 'process',
    severity: 'high',
    where: String.raw`\b(nmap|masscan|zmap|rustscan|advanced_(ip|port)_scanner|netscan|softperfect|angryip|ipscan|naabu|fscan|crackmapexec|nxc|netexec)(64)?(\.exe)?\b`,
    benign: 'the security team’s scanner on its own server',
    match: ['nmap -sS -p 445 10.0.0.0/16', 'C:\\Users\\Public\\netscan.exe /range:10.0.0.0-10.0.255.255'],
    noMatch: ['netsh wlan show networks'],
  },
  {
    id: 'port-sweep',
    techniques: ['T1046', 'T1018', 'T1595'],
    name: 'One address connects to many addresses',
    kind: 'network',
    needs: ['target', 'client'],
    category: 'baseline_anomaly',
    severity: 'medium',
    where: {},
    having: (sql) => ({ columns: `count(DISTINCT ${sql('target')}) AS count` }),
    benign: 'monitoring, scanners, and domain controllers that do this every hour',
    match: [],
    noMatch: [{ client: '10.0.0.9', target: '10.0.0.10', port: 443 }],
  },
];
