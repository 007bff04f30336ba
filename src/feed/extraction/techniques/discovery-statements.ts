import { discoveryVerbs, type StatementRow } from './statement-words.ts';

/** Statements of techniques of discovery and collection. */
export const discoveryStatements: StatementRow[] = [
  [
    'T1087',
    'users user accounts account adfind dsquery bloodhound sharphound admins administrators',
    new RegExp(
      String.raw`\b${discoveryVerbs}\b[^.!?]{0,30}\b(?:(?:domain|local|system|privileged|active directory|ad) (?:users|accounts|admin\w*|administrators)|user (?:accounts|information|names))\b|\bnet user\b|\b(?:adfind|dsquery|bloodhound|sharphound)\b`,
      'i',
    ),
  ],
  [
    'T1069',
    'group groups',
    new RegExp(
      String.raw`\b${discoveryVerbs}\b[^.!?]{0,40}\b(?:domain|local|admin\w*|permission|security|active directory|ad|user|rdp) groups?\b|\bnet (?:local)?group\b`,
      'i',
    ),
  ],
  [
    'T1057',
    'process processes tasklist',
    new RegExp(
      String.raw`\b${discoveryVerbs}\b[^.!?]{0,25}\b(?:running|active|current|system) process(?:es)?\b|\blist of (?:the )?(?:running |active )?processes\b|\btasklist\b`,
      'i',
    ),
  ],
  [
    'T1033',
    'whoami user username usernames logged',
    new RegExp(
      String.raw`\bwhoami\b|\b(?:${discoveryVerbs}|sen(?:d|ds|t|ding)|post(?:s|ed)|report(?:s|ed)|upload(?:s|ed))\b[^.!?]{0,50}\b(?:logged[- ](?:on|in) users?|user ?names?)\b`,
      'i',
    ),
  ],
  [
    'T1016',
    'ipconfig ifconfig external public network connectivity mac',
    new RegExp(
      String.raw`\b(?:ip|if)config\b|\b${discoveryVerbs}\b[^.!?]{0,40}\b(?:external|public) ip(?:[- ]address)?\b|\b${discoveryVerbs}\b[^.!?]{0,60}\b(?:network (?:configuration|adapters?|interfaces?|settings)|mac address(?:es)?)\b|\b(?:perform|conduct|r[au]n)\w*\b[^.!?]{0,20}\bconnectivity (?:checks?|tests?)\b`,
      'i',
    ),
  ],
  [
    'T1049',
    'netstat connections',
    new RegExp(String.raw`\bnetstat\b|\b${discoveryVerbs}\b[^.!?]{0,30}\bnetwork connections\b`, 'i'),
  ],
  [
    'T1135',
    'shares share',
    new RegExp(
      String.raw`\bnet (?:view|share)\b|\b${discoveryVerbs}\b[^.!?]{0,30}\b(?:network|smb|file|remote|accessible|open) (?:file )?shares\b`,
      'i',
    ),
  ],
  [
    'T1018',
    'remote hosts computers adfind ping pings pinged nslookup systems controllers',
    new RegExp(
      String.raw`\b${discoveryVerbs}\b[^.!?]{0,30}\b(?:remote (?:systems|hosts)|(?:other|additional|active|reachable|domain|domain-joined) (?:active )?(?:hosts|computers|systems|machines)|domain controllers|hosts on the network)\b|\badfind\b|\b(?:ping(?:s|ed)?|nslookup)\b[^.!?]{0,30}\b(?:hosts?|hostnames?|systems|controllers?|subnets?)\b`,
      'i',
    ),
  ],
  [
    'T1518.001',
    'antivirus anti-virus security',
    new RegExp(
      String.raw`\b${discoveryVerbs}\b[^.!?]{0,50}\b(?:security (?:software|products?|tools|solutions?)|anti-?virus(?: (?:software|products?|solutions?|programs?))?)\b`,
      'i',
    ),
    { exception: /\b(?:disabl|terminat|kill|uninstall|evad|bypass|avoid)/i },
  ],
  [
    'T1518',
    'installed existence',
    new RegExp(
      String.raw`\b${discoveryVerbs}\b[^.!?]{0,40}\b(?:installed (?:software|applications|programs|browsers|products)|existence of (?:[\w-]+ ){0,3}(?:products|software|applications))\b|\blist of installed (?:software|applications|programs)\b`,
      'i',
    ),
  ],
  [
    'T1083',
    'file files directory directories folders',
    new RegExp(
      String.raw`\b${discoveryVerbs}\b[^.!?]{0,20}\b(?:files|directories|folders)\b[^.!?]{0,40}\b(?:with|of|by|ending|matching) (?:[\w-]+ ){0,3}(?:extensions?|names?|types?)\b|\b(?:list|enumerat|locat|brows)(?:s|ing|ed|es|e) (?:the )?(?:files and (?:directories|folders)|director(?:y|ies)|drives)\b`,
      'i',
    ),
  ],
  [
    'T1039',
    'shares share',
    /\b(?:cop(?:y|ied|ies|ying)|collect\w*|st(?:ole|eal\w*)|exfiltrat\w*|gather\w*) (?:[\w-]+ ){0,3}(?:files|documents|data) from (?:[\w-]+ ){0,2}(?:network|file|smb) shares?\b/i,
  ],
  [
    'T1560.001',
    'compressed archived zipped',
    /\b(?:files?|data|documents|folders?)\b (?:were |was |are |is |being )(?:then )?(?:compressed|archived|zipped)\b|\b(?:compressed|archived) (?:with|using|by) (?:7-?zip|winrar|rar|tar|makecab)\b/i,
  ],
  [
    'T1560.001',
    'compress compressed compresses compressing archive archived archives archiving zip zipped rar winrar makecab cabinet',
    /\b(?:compress|archiv)(?:es|ed|ing) (?:and (?:encrypt\w*|exfiltrat\w*|stag\w+) )?(?:all |the |some |these |those |several |stolen |collected |exfiltrated |harvested |sensitive |targeted |gathered )*(?:files?|folders?|data|information|results?|director(?:y|ies)|mailboxes|documents?|contents?|output)\b|\b(?:used|uses|using|via|with)\b[^.!?]{0,25}\b(?:7-?zip|win ?rar|rar|makecab|tar)\b[^.!?]{0,30}\b(?:to (?:compress|archive|exfiltrate|stage|collect)|for (?:compress|archiv|exfiltrat|stag)\w+)|\b(?:collected|stolen|gathered|harvested|exfiltrated) (?:[\w-]+ ){0,3}(?:is|are|was|were)(?: then)? (?:compressed|archived|zipped)\b|\bcreat(?:e|es|ed|ing)\b[^.!?]{0,30}\b(?:7-?zip|rar|cabinet|password-protected (?:zip|rar)) (?:archives?|files?)\b/i,
  ],
  [
    'T1082',
    'information systeminfo details metadata version data',
    /\b(?:collect|gather|harvest|send|exfiltrat|enumerat|obtain|retriev|profil)\w*\b[^.!?]{0,50}\b(?:(?:operating )?system|host|computer|machine|device|os)(?:\/\w+)? (?:information|details|data|metadata|info|versions?)\b|\binformation (?:of|on) the (?:infected |compromised |victim(?:['’]s)? )?(?:computer|system|host|machine|device)\b|\binformation about the (?:infected |compromised |victim(?:['’]s)? )?(?:computer|system|host|machine|device)\b(?!['’]s)|\bsysteminfo\b/i,
  ],
  [
    'T1082',
    'hostname hostnames info fingerprint',
    /\b(?:collect|gather|harvest|send|post|exfiltrat|enumerat|obtain|retriev|register|report|upload|beacon)(?:e?s|e?d|ing)?\b[^.!?]{0,50}\b(?:host ?names?|(?:machine|system|host|device)(?:\/\w+)? (?:info|fingerprint))\b/i,
  ],
  [
    'T1217',
    'history bookmarks',
    new RegExp(
      String.raw`\b(?:${discoveryVerbs}|st(?:eal|ole)\w*|exfiltrat\w*|harvest\w*)\b[^.!?]{0,60}\bbrows(?:er|ing) (?:history|bookmarks)\b`,
      'i',
    ),
  ],
  ['T1012', 'registry', /\bquer(?:y|ies|ied|ying) (?:the )?(?:windows )?registry\b/i],
  [
    'T1074',
    'staged staging stages',
    /\bstag(?:es|ed|ing)\b (?:the |stolen |collected |sensitive |all )*(?:data|files|archives|documents)\b|\b(?:data|files|archives|documents|information) (?:is |are |was |were )?staged (?:in|on|to|for|at)\b|\b(?:data|file) staging\b|\bstaging (?:director(?:y|ies)|folders?)\b/i,
  ],
  [
    'T1213',
    'sharepoint confluence jira salesforce',
    /\b(?:collect|exfiltrat|steal|stole|stolen|download|cop(?:y|ied)|harvest|theft of)\w*\b[^.!?]{0,40}\b(?:data|files|documents|information|pages|records)\b[^.!?]{0,20}\bfrom\b[^.!?]{0,30}\b(?:sharepoint|confluence|jira|salesforce)\b/i,
  ],
  [
    'T1046',
    'scan scans scanned scanning scanner nmap masscan',
    /\b(?:port|network|internal)[- ]scan|\bscan(?:s|ned|ning)?\b[^.!?]{0,30}\b(?:internal network|(?:the )?(?:local )?network|ports?|subnets?|open ports)\b|\b(?:nmap|masscan|advanced (?:ip|port) scanner|softperfect|angry ip)\b/i,
  ],
  ['T1482', 'nltest trusts trust', /\bnltest\b|\bdomain trusts?\b/i],
  [
    'T1123',
    'microphone microphones audio',
    /\b(?:record|captur|activat|hijack|access|turn(?:s|ed|ing)? on|listen)\w*\b[^.!?]{0,50}\bmicrophones?\b|\brecord(?:s|ed|ing)? (?:of )?audio\b|\baudio (?:and \w+ )?(?:record|captur)/i,
  ],
  [
    'T1125',
    'webcam webcams camera cameras',
    /\b(?:record|captur|activat|hijack|access|turn(?:s|ed|ing)? on|spy)\w*\b[^.!?]{0,60}\b(?:webcams?|cameras?)\b|\b(?:webcam|camera) (?:captur|record|access)/i,
  ],
  ['T1113', 'screenshot screenshots screen', /\bscreen ?shots?\b|\bscreen[- ]captur/i],
  [
    'T1115',
    'clipboard',
    /\b(?:steal|captur|monitor|hijack|read|replac|access|collect)\w*\b[^.!?]{0,40}\bclipboard\b|\bclipboard (?:data|contents?|hijack|monitor|access)/i,
  ],
  [
    'T1114',
    'mailbox mailboxes email emails inbox inboxes',
    /\b(?:access|collect|steal|exfiltrat|read|harvest|export|stole)\w*\b[^.!?]{0,30}\b(?:mailbox(?:es)?|e-?mails? (?:from|of|accounts?|data|content)|inbox(?:es)?)\b|\bmailbox access\b|\be-?mail exfiltration\b/i,
  ],
  [
    'T1114.003',
    'rule rules forwarding',
    /\b(?:inbox|mailbox|e-?mail|forwarding|outlook) (?:forwarding )?rules?\b[^.!?]{0,60}\b(?:forward|redirect|conceal|hid|delet)\w*|\b(?:creat|add|set(?:ting)? up|malicious)\w*\b[^.!?]{0,30}\b(?:inbox|mailbox|(?:e-?mail )?forwarding) rules?\b/i,
  ],
  [
    'T1614.001',
    'language languages locale keyboard layout zone',
    /\b(?:check|verif|quer|determin|inspect|compar)\w*\b[^.!?]{0,50}\b(?:(?:system|default|keyboard|ui|installed|operating system(?:['’]s)?|computer(?:['’]s)?) (?:languages?|locales?)|keyboard layouts?|language (?:settings?|packs?|id)|time ?zone)\b/i,
  ],
];
