import { dataWords, payloadWords, storedFiles, type StatementRow } from './statement-words.ts';

/** Statements of techniques of credential access, and from lateral movement to impact. Sorted by tactic. */
export const lateStatements: StatementRow[] = [
  // Credential access
  [
    'T1003.001',
    'lsass lsass.exe mimikatz procdump comsvcs comsvcs.dll',
    /\blsass(?:\.exe)?\b|\bmimikatz\b|\bprocdump\b|\bcomsvcs\.dll\b/i,
  ],
  [
    'T1003.002',
    'sam hive hives',
    /\bSAM\b[^.!?]{0,40}\b(?:hives?|database|registry|dump)|\b(?:hives?|dump\w*|extract\w*|cop(?:y|ied)|sav\w+)\b[^.!?]{0,40}\bSAM\b|\bsecurity account manager\b/,
  ],
  [
    'T1003.003',
    'ntds ntds.dit domain',
    /\bntds(?:\.dit)?\b|\bdomain controllers?\b[^.!?]{0,60}\b(?:credential|hash)\w* (?:extract|dump)/i,
  ],
  ['T1003.006', 'dcsync', /\bdcsync\b/i],
  [
    'T1003',
    'credential credentials hashes passwords',
    /\b(?:dump)(?:s|ed|ing)?\b[^.!?]{0,30}\b(?:credentials?|hashes|passwords?)\b|\bcredential[- ]dump|\b(?:extract|harvest)\w*\b[^.!?]{0,40}\bcredentials?\b[^.!?]{0,30}\bmemory\b/i,
  ],
  ['T1110.003', 'spray sprays spraying spray password-spraying', /\bpassword[- ]spray/i],
  ['T1110.004', 'stuffing', /\bcredential[- ]stuffing\b/i],
  [
    'T1110',
    'brute brute-force brute-forces brute-forced brute-forcing bruteforce bruteforced bruteforcing',
    /\bbrute[- ]?forc/i,
  ],
  [
    'T1555.003',
    'browser browsers chrome firefox',
    /\b(?:steal|harvest|extract|collect|grab|exfiltrat|dump|stored|saved)\w*\b[^.!?]{0,60}\b(?:passwords?|credentials?|logins?)\b[^.!?]{0,50}\b(?:browsers?|chrome|firefox|edge)\b|\b(?:browsers?|chrome|firefox)\b[^.!?]{0,50}\b(?:passwords?|credentials?|login data)\b/i,
  ],
  [
    'T1555',
    'password passwords vault keychain',
    /\b(?:extract|steal|harvest|dump|decrypt)\w*\b[^.!?]{0,30}\b(?:stored|saved) (?:passwords?|credentials?)\b|\b(?:password managers?|password vaults?|keychain)\b[^.!?]{0,50}\b(?:steal|extract|dump|harvest|target)|\b(?:steal|extract|dump|harvest)\w*\b[^.!?]{0,50}\b(?:password managers?|password vaults?|keychain)\b/i,
  ],
  [
    'T1555',
    'credentials passwords',
    /\b(?:steal|stole|harvest|extract|collect|grab|dump)(?:s|ing|ed|n)?\b[^.!?]{0,15}\b(?:credentials|passwords)\b[^.!?]{0,20}\b(?:for|from|of|stored (?:in|by))\b[^.!?]{0,30}\b(?:applications?|apps|clients?|programs|ftp|e-?mail clients?|vpn|messengers?)\b/i,
  ],
  [
    'T1555',
    'credentials passwords',
    /\b(?:steal|stole|harvest)(?:s|ing)?\b[^.!?]{0,40}\b(?:account|login|user|saved|stored) (?:credentials|passwords)\b|\b(?:credential|password)[- ]stealers?\b/i,
    { context: /stealer|malware|trojan|\brat\b/i, exception: /\bphish|\b(?:pages?|sites?|websites?|forms?)\b/i },
  ],
  ['T1552.005', 'imds metadata', /\b(?:imds|instance metadata|metadata service)\b/i],
  [
    'T1539',
    'cookie cookies',
    /\b(?:steal|theft|harvest|extract|collect|grab|exfiltrat|stolen|captur)\w*\b[^.!?]{0,60}\bcookies?\b|\bcookie (?:theft|stealing)\b/i,
  ],
  [
    'T1557',
    'adversary-in-the-middle aitm man-in-the-middle middle',
    /\badversary[- ]in[- ]the[- ]middle\b|\baitm\b|\bman[- ]in[- ]the[- ]middle\b/i,
  ],
  [
    'T1621',
    'mfa fatigue push prompts bombing',
    /\bmfa (?:fatigue|bombing|push bombing|prompt bombing)\b|\bpush[- ]bomb|\b(?:bombard|flood|spam|overwhelm|repeated)\w*\b[^.!?]{0,50}\b(?:mfa|push|authentication|multi-?factor)[- ](?:prompts?|notifications?|requests?)/i,
  ],
  [
    'T1528',
    'token tokens',
    /\b(?:steal|stole|stolen|harvest|exfiltrat|theft of|grab|captur|obtain)\w*\b[^.!?]{0,40}\b(?:oauth|access|refresh|github|npm|pypi|api|application|oidc|cloud|auth|authentication|authori[sz](?:ation|ed)|bearer) tokens?\b|\b(?:oauth|access|refresh|authentication) tokens? (?:is|are|was|were) (?:stolen|obtained|captured|harvested|intercepted|exfiltrated)\b/i,
  ],
  [
    'T1528',
    'device oauth',
    /\bdevice[- ]code (?:phishing|flow|authentication|authori[sz]ation)\b|\b(?:approv|enter|authori[sz])\w* (?:an? |the )?device codes?\b|\b(?:malicious|rogue|attacker-controlled|fraudulent) oauth app(?:lication)?s?\b/i,
  ],
  [
    'T1552.001',
    'key keys credentials secrets',
    /\b(?:pull|read|collect|harvest|extract|steal|stole|grab|scrap|exfiltrat)(?:e?s|e?d|ing)?\b[^.!?]{0,30}\b(?:secrets|credentials|keys|tokens)\b[^.!?]{0,20}\bfrom (?:the )?(?:process\.env|environment variables?|\.env|config\w* files?)|\b(?:scan|search)(?:s|es|ned|ed|ning|ing)?\b[^.!?]{0,30}\bfor\b[^.!?]{0,60}\b(?:api keys|secrets|environment variables|credentials)\b|\b(?:aws|ssh|cloud|api|access|private|hard-?coded) (?:keys?|credentials|secrets)\b[^.!?]{0,40}\b(?:in|from)\b[^.!?]{0,30}\b(?:config\w* files?|scripts?|environment (?:files?|variables)|repositor(?:y|ies)|\.env)/i,
  ],
  ['T1558.003', 'kerberoast kerberoasting', /\bkerberoast/i],
  ['T1550.002', 'pass-the-hash hash', /\bpass[- ]the[- ]hash\b/i],
  ['T1056.001', 'keylogger keyloggers keylogging keystroke keystrokes', /\bkeylogg|\bkeystrokes?\b/i],
  // Lateral movement
  [
    'T1021.001',
    'rdp desktop',
    /\b(?:lateral|pivot|mov(?:e|ed|ing)|connect|via|over|us(?:e|es|ed|ing)|through|session)\w*\b[^.!?]{0,60}\b(?:rdp|remote desktop(?: protocol)?)\b/i,
  ],
  [
    'T1021.002',
    'smb psexec shares',
    /\b(?:lateral|spread|mov(?:e|ed|ing)|propagat|via|over|through)\w*\b[^.!?]{0,50}\b(?:smb|admin(?:istrative)? shares?)\b/i,
  ],
  [
    'T1021.006',
    'winrm winrs remote',
    /\b(?:lateral|pivot|mov(?:e|ed|ing)|connect|via|over|us(?:e|es|ed|ing)|through|execut)\w*\b[^.!?]{0,60}\b(?:winrm|winrs|windows remote management|powershell remoting)\b/i,
  ],
  ['T1021.004', 'ssh', /\b(?:lateral|pivot|mov(?:e|ed|ing)|connect)\w*\b[^.!?]{0,50}\bssh\b/i],
  ['T1210', 'eternalblue ms17-010 worm worms', /\beternalblue\b|\bms17-010\b/i],
  // Command and control
  [
    'T1219',
    'anydesk teamviewer screenconnect connectwise atera splashtop rustdesk netsupport meshagent meshcentral simplehelp zoho logmein rmm remote quick dwagent action1 syncro',
    /\b(?:anydesk|teamviewer|screenconnect|connectwise|atera|splashtop|rustdesk|netsupport|mesh(?:agent|central)|simplehelp|zoho assist|logmein|quick assist|dwagent|action1|syncro)\b|\brmm (?:tools?|software|agents?)\b|\bremote[- ](?:monitoring and management|management|administration|access|support|desktop)[- ](?:tool(?:s|ing)?|software|programs?|utilit(?:y|ies)|applications?)\b/i,
  ],
  [
    'T1572',
    'tunnel tunnels tunneling tunnelling tunneled ngrok chisel cloudflared ligolo',
    /(?<!\b(?:vpn|ipsec) )\btunnel(?:l?ing|l?ed|s)?\b|\b(?:ngrok|chisel|cloudflared|ligolo)\b/i,
  ],
  [
    'T1090',
    'proxy proxies proxied socks socks5',
    /\b(?:socks[45]?|reverse|residential) prox(?:y|ies)\b|\bprox(?:y|ies|ied|ying)\b[^.!?]{0,40}\b(?:traffic|c2|command|communications?|connections?)\b/i,
  ],
  [
    'T1090',
    'relayed relay relays routed proxied',
    /\b(?:relay|rout|prox|tunnel)(?:s|ed|ing|ied|ying)?\b[^.!?]{0,40}\b(?:compromised|hacked|infected|hijacked)\b[^.!?]{0,20}\b(?:routers|devices|hosts|servers)\b/i,
  ],
  ['T1090.004', 'fronting', /\bdomain[- ]fronting\b/i],
  [
    'T1071.001',
    'http https',
    /\b(?:c2|c&c|command[- ]and[- ]control|communicat\w*|beacon\w*)\b[^.!?]{0,60}\b(?:over|via|using|through) https?\b|\bhttps?\b[^.!?]{0,40}\b(?:c2|c&c|command[- ]and[- ]control|beacon\w*)\b/i,
  ],
  [
    'T1071.004',
    'dns doh dns-over-https',
    /\bdns[- ](?:tunnel|over[- ]https|c2|txt|queries)[^.!?]{0,60}|\b(?:c2|c&c|command[- ]and[- ]control|communicat\w*)\b[^.!?]{0,40}\b(?:over|via|using|through) dns\b/i,
  ],
  [
    'T1102',
    'gist steam telegram discord slack github dropbox google onedrive pastebin notion trello graph',
    /\babus\w+\b[^.!?]{0,20}\bgraph api\b|\b(?:telegram|discord|slack|github|dropbox|google (?:drive|sheets|calendar|docs)|onedrive|pastebin|notion|trello|microsoft graph|graph api)\b[^.!?]{0,50}\b(?:c2|c&c|command[- ]and[- ]control|dead[- ]drop|to receive commands)\b|\b(?:c2|c&c|command[- ]and[- ]control|dead[- ]drop)\b[^.!?]{0,60}\b(?:telegram|discord|slack|github|dropbox|google (?:drive|sheets|calendar|docs)|onedrive|pastebin|notion|trello|graph api)\b|\b(?:commands?|c2 (?:address|server)\w*|instructions|tasks)\b[^.!?]{0,40}\b(?:read|fetch|retriev|receiv|poll|download|come|obtain)\w*\b[^.!?]{0,30}\b(?:telegram|discord|slack|github|gist|dropbox|google (?:drive|sheets|calendar|docs)|onedrive|pastebin|notion|trello|steam)\b/i,
  ],
  [
    'T1102',
    'blockchain contract canister etherhiding solana ethereum',
    /\betherhiding\b|\b(?:c2|c&c|command[- ]and[- ]control|dead[- ]drop|payloads?|instructions|commands)\b[^.!?]{0,80}\b(?:blockchain|smart contracts?|canisters?|solana|ethereum)\b|\b(?:blockchain|smart contracts?|canisters?|solana|ethereum)\b[^.!?]{0,60}\b(?:c2|c&c|command[- ]and[- ]control|dead[- ]drop|to (?:download|fetch|retrieve|receive))\b/i,
  ],
  [
    'T1102.001',
    'dead-drop resolver resolvers drop',
    /\bdead[- ]drop (?:resolvers?|wallets?|contracts?|address(?:es)?|urls?|pages?)\b/i,
  ],
  ['T1571', 'non-standard nonstandard port ports', /\bnon-?standard (?:[\w-]+ )?ports?\b/i],
  [
    'T1573',
    'encrypted encrypts encrypt',
    /\bencrypt(?:s|ed|ing)?\b[^.!?]{0,30}\b(?:c2|c&c|command[- ]and[- ]control|network) (?:traffic|communications?|channels?)\b|\b(?:c2|c&c|command[- ]and[- ]control|network) (?:traffic|communications?|channels?)\b[^.!?]{0,30}\bencrypted (?:with|using|by|via)\b/i,
  ],
  ['T1568.002', 'dga domain', /\bdomain generation algorithms?\b|\bDGAs?\b/],
  [
    'T1105',
    'download downloads downloaded downloading retrieve retrieves retrieved fetch fetches fetched pulls',
    new RegExp(
      String.raw`\b(?:(?:download|retriev|fetch)(?:s|es|ed|ing)|(?:to|can|will|and|then|may|could|which|turn|that|subsequently|eventually) (?:download|retrieve|fetch)|pulls(?: down)?)\b[^.!?]{0,60}\b${payloadWords}\b|\b${payloadWords}\b[^.!?]{0,40}\b(?:downloaded|retrieved|fetched) (?:from|by|via|using)\b`,
      'i',
    ),
    { exception: storedFiles },
  ],
  // Exfiltration and impact
  [
    'T1041',
    'send sends sent exfiltrate exfiltrates exfiltrated exfiltrating upload uploads uploaded transmit transmits transmitted forwards',
    /\b(?:send|sent|exfiltrat|upload|transmit|forward)\w*\b[^.!?]{0,80}\b(?:to|via|over|through)\b[^.!?]{0,50}\b(?:c2|c&c|command[- ]and[- ]control|attacker(?:s|-controlled)?|(?:remote|external) (?:servers?|hosts?|apis?|endpoints?)|actor[^.!?]{0,12}servers?)\b/i,
  ],
  [
    'T1567',
    'exfiltrate exfiltrates exfiltrated exfiltrating exfiltration',
    /\bexfiltrat\w*\b[^.!?]{0,60}\b(?:to|via|through|using)\b[^.!?]{0,30}\b(?:cloud (?:storage|services?|file|hosting)|file[- ](?:hosting|sharing) (?:services?|sites?)|dropbox|google drive|onedrive|telegram|discord|web ?services?|pastebin)\b|\b(?:cloud|file[- ](?:hosting|sharing))(?: [\w-]+){0,2} (?:services?|storage|sites?)\b[^.!?]{0,30}\b(?:for|to) (?:data )?exfiltrat/i,
  ],
  ['T1030', 'chunks', /\b(?:small(?:er)?|fixed-size) chunks\b|\bchunks of \d/i],
  ['T1567.002', 'rclone mega megasync', /\brclone\b|\bmega(?:sync|\.nz|\.io)\b/i],
  [
    'T1486',
    'encrypt encrypts encrypted encrypting encryption encryptor ransomware',
    new RegExp(
      String.raw`\b(?:encrypt(?:s|ing|ion of)?|encrypted (?:by|the|their|all|its|his|her|over|more than|nearly|victims?|hundreds|thousands|dozens|\d+))\b[^.!?]{0,50}\b${dataWords}\b|\b(?:gang|group|attackers?|actors?|hackers?|intruders|ransomware|criminals|operators?|affiliates?|they)\b[^.!?]{0,30}\bencrypted\b[^.!?]{0,40}\b${dataWords}\b|\b(?:files?|systems?|servers?|data|machines|vms) (?:are |were |was |being |been |got )?encrypt(?:ed(?= by\b|[.,;]|$)|ion\b)|\b(?:deploy|launch|execut|detonat|distribut|push|drop)\w*\b[^.!?]{0,60}\bransomware\b(?! (?:gang|group|operator|actor|affiliate))|\bransomware (?:[\w-]+ )?(?:deployment|was (?:deployed|launched|executed)|encrypt(?:s|ed)|impact)\b|\b(?:hit|struck|crippled|suffered|disrupted|confirmed|launch\w*|carried out)\b[^.!?]{0,30}\bransomware attacks?\b`,
      'i',
    ),
    {
      context: /ransom|\block(?:er|bit)\b|encryptor|extort/i,
      exception: /\b(?:decryptors?|decryption (?:tools?|keys?)|files back|no more ransom|unlock)\b/i,
    },
  ],
  [
    'T1486',
    'ransom',
    /\b(?:drop|leav|left|present|display|show|creat|receiv|writ)\w*\b[^.!?]{0,40}\bransom (?:notes?|messages?)\b/i,
  ],
  [
    'T1486',
    'encryption',
    /\b(?:\d+ ?%|nearly (?:complete|full)|full|mass|host|domain-?wide|file|widespread) (?:host |network |file |data |disk )?encryption\b/i,
    { context: /ransom/i },
  ],
  [
    'T1489',
    'service services',
    /\b(?:stop|terminat|kill|shut(?:s|ting)? down)\w*\b[^.!?]{0,40}\bservices\b/i,
    { context: /ransom|encrypt|database|backup/i },
  ],
  [
    'T1490',
    'backups backup recovery restore',
    /\b(?:delet|remov|destroy|wip|eras)\w*\b[^.!?]{0,30}\bbackups?\b|\bdisabl\w*\b[^.!?]{0,30}\b(?:recovery|system restore)\b/i,
  ],
  ['T1490', 'shadow vssadmin wbadmin bcdedit', /\bshadow cop(?:y|ies)\b|\b(?:vssadmin|wbadmin|bcdedit)\b/i],
  [
    'T1485',
    'wiper wipers wipes wiped wipe',
    /\bwipers?\b[^.!?]{0,60}\b(?:overwr\w+|destroy\w*|delet\w+|eras\w+|corrupt\w*)\b|\b(?:data|disk)[- ]?wip(?:er|ers|ing)\b|\b(?:file ?system|disk|data) wip(?:e|es|ing)\b|\bwip(?:es|ed|ing) (?:[\w-]+ ){0,3}(?:data|disks?|files?|systems?|drives?)\b/i,
  ],
  [
    'T1561',
    'mbr master partition',
    /\b(?:overwr|wip|corrupt|destroy|eras)\w*\b[^.!?]{0,40}\b(?:mbr|master boot record|partition tables?)\b/i,
  ],
  [
    'T1529',
    'reboot reboots rebooted restarts shutdown shuts',
    /\b(?:reboot|shut(?:s|ting)? down|restart)\w*\b (?:the |all )?(?:infected |compromised |victim(?:['’]s)? |affected )?(?:systems?|machines?|computers?|hosts?|devices?)\b/i,
    { context: /wip|ransom|encrypt|destr/i },
  ],
  ['T1491', 'deface defaced defacement defacements', /\bdefac(?:e|ed|ement|ements|ing)\b/i],
  [
    'T1498',
    'ddos denial-of-service denial',
    /\b(?:launch|conduct|perform|carr|used? (?:for|to)|capable of)\w*\b[^.!?]{0,40}\b(?:ddos|distributed denial[- ]of[- ]service)\b|\bddos (?:attacks?|botnet)\b|\bdistributed denial[- ]of[- ]service (?:\(ddos\) )?attacks? (?:hit|ha[sd]|have|against|on|target|plagu|disrupt|by|from)/i,
  ],
  [
    'T1496',
    'mine mines monero cryptominer cryptominers cryptomining crypto-mining cryptojacking miner miners mining xmrig coinminer',
    /\bcrypto(?:currency)?[- ]?(?:min|jack)(?:er|ers|ing)\b|\bxmrig\b|\bcoin ?miners?\b|\bmin(?:e|es|ing) (?:for )?(?:monero|xmr|dero|bitcoin|cryptocurrenc\w+)\b|\bmonero miners?\b/i,
  ],
  [
    'T1657',
    'extortion threatened threatens threatening',
    /\bdouble[- ]extortion\b|\bthreaten(?:s|ed|ing)? to (?:publish|leak|release|sell)\b[^.!?]{0,40}\b(?:data|files|information|documents)\b/i,
  ],
  [
    'T1657',
    'million cryptocurrency funds',
    /\b(?:stole|stolen|theft of|drain(?:ed|ing)|siphon(?:ed|ing)|laundered)\b[^.!?]{0,40}(?:\b(?:million|billion)\b[^.!?]{0,15}\b(?:dollars|euros?|in (?:crypto\w*|funds|bitcoin|ether\w*))|[$€£]\d|\bfunds\b|\bcrypto(?:currency|currencies)\b)/i,
  ],
];
