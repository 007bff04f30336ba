import type { StatementRow } from './statement-words.ts';

const opener = String.raw`(?:victims?|users?|recipients?|targets?|employees?|someone|they|person)`;
const lure = String.raw`(?:attachments?|documents?|files?|macros?|archives?|installers?|lnk|shortcuts?|executables?|content|apps?|applications?|pdfs?|spreadsheets?|scripts?)`;

/** Statements of techniques up to privilege escalation. Sorted by tactic. */
export const earlyStatements: StatementRow[] = [
  // Reconnaissance and initial access
  [
    'T1595',
    'scan scans scanning scanned',
    /\bscan(?:s|ned|ning)? (?:[\w-]+ ){0,3}(?:the )?internet\b|\binternet-wide scan/i,
  ],
  [
    'T1583.001',
    'domain domains look-alike lookalike typosquat',
    /\b(?:attackers?|actors?|group|hackers?|operators?|criminals|they|campaign)\b[^.!?]{0,40}\bregister(?:ed|s|ing)?\b[^.!?]{0,40}\bdomains?\b|\b(?:look-?alike|typosquatted|spoofed) domains? (?:was|were|registered)|\b(?:deploy|regist|us)(?:s|es|ed|ing|er|ers|ered|ering)?\b[^.!?]{0,20}\b(?:look-?alike|typosquat(?:ted|ting)?) domains\b/i,
  ],
  [
    'T1583',
    'infrastructure servers server vps',
    /\b(?:attackers?|actors?|group|hackers?|operators?|criminals|they)\b[^.!?]{0,40}\b(?:rent|leas|purchas|bought|buy|acquir|set(?:ting)? up)\w*\b[^.!?]{0,30}\b(?:servers|vps(?:es)?|virtual private servers?|infrastructure)\b/i,
  ],
  [
    'T1585.001',
    'profiles accounts personas profile persona',
    /\b(?:creat|set(?:s|ting)? up|us|operat|maintain)\w*\b[^.!?]{0,30}\b(?:fake|fictitious|bogus|sock ?puppet) (?:[\w-]+ ){0,2}(?:profiles?|personas?|accounts?)\b/i,
  ],
  [
    'T1586.002',
    'account accounts mailbox mailboxes',
    /\b(?:from|via|using|through) (?:an? |the |previously |several |multiple )*(?:compromised|hacked|hijacked) (?:[\w-]+ ){0,2}(?:e-?mail accounts?|mailbox(?:es)?)\b/i,
  ],
  [
    'T1583.008',
    'ads advertisements ad',
    /\b(?:malicious|fake|rogue|sponsored) (?:google |bing |search |facebook |sponsored )?(?:ads|advertisements)\b[^.!?]{0,60}\b(?:le(?:a?d|ads)|point|redirect|download|deliver|distribut|fake|malware|phish)/i,
  ],
  [
    'T1650',
    'broker brokers',
    /\b(?:b(?:uy|ought|uying)|purchas\w*|acquir\w*|obtain\w*)\b[^.!?]{0,40}\binitial access brokers?\b/i,
  ],
  [
    'T1584',
    'compromised hacked breached hijacked',
    /\b(?:compromised|hacked|breached|hijacked) (?:[\w-]+ ){0,3}(?:web ?sites?|servers?|routers?|devices?)\b[^.!?]{0,40}\b(?:as|to host|for) (?:[\w-]+ ){0,3}(?:c2|c&c|command|prox(?:y|ies)|relays?|payloads?|malware)\b/i,
  ],
  [
    'T1684.001',
    'posed posing pose impersonate impersonated impersonates impersonating masquerading masqueraded pretending pretended',
    /\b(?:pos(?:e|es|ed|ing) as|impersonat\w+|masquerad\w+ as|pretend\w+ to be)\b[^.!?]{0,40}\b(?:help ?desk|it (?:staff|support|department|personnel|teams?)|tech(?:nical)? support|recruiters?|employees?|journalists?|executives?|government officials?)\b/i,
  ],
  [
    'T1566.001',
    'phishing spearphishing spear-phishing malspam email emails e-mail e-mails mail',
    new RegExp(
      String.raw`\b(?:(?:spear[- ]?)?phish(?:ing)?|malspam|malicious e-?mails?|lure e-?mails?|e-?mails?)\b[^.!?]{0,90}\b(?:attach(?:ment|ments|ed|ing)|zip|rar|iso|lnk|word documents?|excel|spreadsheets?|malicious (?:documents?|pdfs?|archives?|files?))\b|\b(?:attachments?|spreadsheets?|documents?)\b[^.!?]{0,40}\b(?:attached to|via|by|through|in) (?:[\w-]+ ){0,3}(?:malspam|phishing|spear-?phishing|e-?mails?)\b`,
      'i',
    ),
  ],
  [
    'T1566.002',
    'phishing spearphishing spear-phishing malspam email emails e-mails messages smishing',
    /\b(?:(?:spear[- ]?)?phishing|malspam|smishing|e-?mails?|text messages?)\b[^.!?]{0,60}\b(?:links?|urls?|pages?|sites?|websites?)\b|\b(?:links?|urls?)\b[^.!?]{0,50}\b(?:in|from|via|through) (?:[\w-]+ ){0,3}(?:phishing|e-?mails?)/i,
  ],
  [
    'T1566.003',
    'teams',
    /\b(?:contact|messag|call|chat|reach)\w*\b[^.!?]{0,60}\b(?:microsoft )?teams\b|\b(?:initiat|start|sen[dt]|receiv)\w*\b[^.!?]{0,40}\bteams (?:chats?|messages?|calls?)\b/i,
    {
      context:
        /\b(?:impersonat|masquerad|pretend|pos(?:e|ed|ing) as|help ?desk|it support|spam|flood|bomb|phish)|\b(?:external|compromised) (?:[\w-]+ )?(?:accounts?|tenants?)\b/i,
    },
  ],
  [
    'T1667',
    'flood flooded bombing bombed',
    /\b(?:flood(?:s|ed|ing)?|bomb(?:ed|ing)?)\b[^.!?]{0,30}\b(?:spam|e-?mails?|inbox(?:es)?)\b|\be-?mail bombing\b/i,
  ],
  ['T1566.004', 'vishing voice', /\bvishing\b|\bvoice[- ]phishing\b/i],
  [
    'T1566',
    'phishing spearphishing spear-phishing malspam smishing',
    /\b(?:spear[- ]?)?phishing(?! kit|-as-a)\b|\bmalspam\b|\bsmishing\b/i,
  ],
  [
    'T1189',
    'drive-by watering malvertising malvertisements',
    /\bdrive[- ]by (?:download|compromise)|\bwatering[- ]hole\b|\bmalvertis/i,
  ],
  [
    'T1189',
    'visitors',
    /\bvisitors\b[^.!?]{0,60}\b(?:served|infected|exploited|received)\b[^.!?]{0,40}\b(?:exploits?|malware|payloads?|scripts?|implants?)\b/i,
  ],
  [
    'T1195.001',
    'maintainers package packages npm pypi maintainer dependency dependencies',
    /\b(?:npm|pypi|nuget|rubygems|open[- ]source|malicious|compromised|backdoored|poisoned|hijacked)\b[^.!?]{0,50}\b(?:packages?|dependenc(?:y|ies))\b[^.!?]{0,90}\b(?:hijack|compromis|backdoor|malicious|inject|infect|poison|trojan|steal)|\bmaintainers?\b[^.!?]{0,60}\b(?:compromis|hijack|phish)|\b(?:hijack|compromis|phish|took over|tak(?:e|en|ing) over)\w*\b[^.!?]{0,40}\bmaintainers?\b|\bmalicious (?:(?:npm|pypi|nuget|python|rubygems|open[- ]source) )?packages?\b[^.!?]{0,60}\b(?:st(?:eal|ole)|collect|exfiltrat|harvest|download|install|deliver|drop|uploaded|published)/i,
  ],
  [
    'T1195.002',
    'trojanized trojanised backdoored compromised poisoned tampered weaponized weaponised',
    /\b(?:trojani[sz]ed|backdoored|compromised|poisoned|tampered|weaponi[sz]ed)\b[^.!?]{0,50}\b(?:installers?|updates?|update mechanism|builds?|releases?|distribution channel|software supply)\b/i,
  ],
  [
    'T1195.001',
    'versions releases version typosquat typosquats typosquatting typosquatted crate crates republishes',
    /\b(?:publish|releas|push|upload)(?:es|ed|ing)?\b[^.!?]{0,40}\b(?:backdoored|malicious|infected|trojani[sz]ed|poisoned|compromised)\b[^.!?]{0,20}\b(?:versions?|releases?|packages?)\b|\b(?:backdoored|malicious|infected|poisoned|compromised) (?:[\w-]+ ){0,2}(?:versions?|releases?) (?:of|were|was|are|is|to)\b|\btyposquat\w*\b[^.!?]{0,60}\b(?:packages?|npm|pypi|crates?|gems?|modules?|librar(?:y|ies)|dependenc(?:y|ies))\b|\b(?:npm|pypi|crates?\.io|packages?|crates?|gems?|dependenc(?:y|ies))\b[^.!?]{0,60}\btyposquat|\brepublish\w*\b[^.!?]{0,40}\b(?:malware|worm|itself|packages?)\b/i,
  ],
  [
    'T1195.001',
    'postinstall post-install preinstall',
    /\b(?:malicious|malware|payloads?|obfuscated|hidden)\b[^.!?]{0,60}\b(?:post|pre)-?install\b|\b(?:post|pre)-?install (?:scripts?|hooks?)\b[^.!?]{0,80}\b(?:download|fetch|execut|exfiltrat|st(?:eal|ole)|harvest|malicious|payload|backdoor)/i,
  ],
  [
    'T1195.001',
    'extension extensions',
    /\b(?:compromised|backdoored|hijacked|poisoned) (?:vs ?code|visual studio code|open ?vsx|ide) extensions?\b/i,
  ],
  [
    'T1195',
    'supply supply-chain',
    /\bsupply[- ]chain (?:attacks?|compromises?|intrusions?|incidents?|campaigns?|droppers?|malware|worms?)\b/i,
  ],
  ['T1199', 'trusted', /\btrusted (?:third[- ]party )?relationships?\b/i],
  [
    'T1199',
    'supplier vendor contractor msp provider partner',
    /\b(?:access|breach|compromis|enter|gain|log|pivot|reach)\w*\b[^.!?]{0,60} (?:through|via|using|from) (?:the |an? |its |their )?(?:[\w-]+ ){0,3}(?:supplier|vendor|contractor|msp|service provider|partner)(?:['’]s?)? (?:[\w-]+ ){0,2}(?:access|network|connection|vpn|account)\b/i,
  ],
  [
    'T1133',
    'vpn vpns rdp citrix gateway desktop',
    /\b(?:rdp|remote desktop(?: protocol)?) to (?:gain|obtain) (?:initial )?access\b|\blog(?:ged|ging|s)?[- ]?in (?:through|via|using|over|with) (?:rdp|remote desktop)\b|\b(?:log(?:ged|ging|s)?[- ]?(?:in|on|ins)?|login attempts?|logins?|authenticat\w+|initial access|gain(?:ed|ing|s)? access|entry)\b[^.!?]{0,60}\b(?:through|via|to|using|over|into|from)\b[^.!?]{0,40}\b(?:vpns?|ssl ?vpns?|exposed rdp|remote desktop|citrix)\b|\b(?:exposed|internet-facing|publicly accessible) (?:rdp|vpn|remote desktop|ssh)\b/i,
  ],
  [
    'T1078',
    'stolen compromised valid leaked harvested purchased legitimate reused hijacked default',
    /\b(?:stolen|compromised|valid|leaked|harvested|purchased|previously stolen|legitimate|reused|hijacked|default)(?: [\w-]+){0,2} (?:credentials?|accounts?|passwords?|logins?)\b[^.!?]{0,60}\b(?:us(?:e|ed|ing)|log|access|authenticat|sign|remain|enter|connect|gain)|\b(?:us(?:e|es|ed|ing)|with|via|through|leverag\w+|abus\w+)\b[^.!?]{0,25}\b(?:stolen|compromised|valid|leaked|harvested|purchased|legitimate|default)(?: [\w-]+){0,2} (?:credentials?|accounts?|passwords?|logins?)\b/i,
  ],
  [
    'T1091',
    'usb removable thumb',
    /\b(?:usb|removable|thumb)[- ]?(?:[\w-]+ )?(?:drives?|media|sticks?|devices?|flash)\b[^.!?]{0,90}\b(?:spread|propagat|infect|cop(?:y|ies)|replicat|worm|hidden)|\b(?:spread|propagat|infect|replicat|cop(?:y|ies))\w*\b[^.!?]{0,90}\b(?:usb|removable|thumb)[- ]?(?:[\w-]+ )?(?:drives?|media|sticks?|devices?|flash)/i,
  ],
  // Execution
  [
    'T1204.004',
    'clickfix filefix captcha paste pasting clipboard',
    /\b(?:clickfix|filefix)\b|\bpast(?:e|es|ed|ing)\b[^.!?]{0,60}\b(?:commands?|powershell|run dialog|terminal)\b|\bfake captcha|\b(?:pages?|sites?|websites?|captcha|buttons?|prompts?)\b[^.!?]{0,30}\bcop(?:y|ies|ied)\b[^.!?]{0,60}\bto (?:the |your |their )(?:[\w'’]+ )?clipboard\b/i,
  ],
  [
    'T1204.002',
    'open opens opened opening execute executes executed executing run runs running click clicks clicked clicking launch launches launched enable enables enabled enabling macro macros lured tricked tricks trick',
    new RegExp(
      String.raw`\b${opener}\b[^.!?]{0,50}\b(?:open(?:s|ed|ing)?|execut(?:e|es|ed|ing)|run(?:s|ning)?|launch(?:es|ed)?|double-click\w*|click(?:s|ed|ing)?|enabl(?:e|es|ed|ing)|download(?:s|ed)? and (?:run|open|execut)\w*)\b[^.!?]{0,40}\b${lure}\b|\b(?:once|when|upon|after|if|by) (?:[\w-]+ ){0,4}(?:open(?:s|ed|ing)?|double-click\w*|clicked|enabl(?:ed|ing|e))\b[^.!?]{0,40}\b${lure}\b|\b(?:lur|trick|persuad|convinc|entic|dup)\w+\b[^.!?]{0,40}\binto (?:open|run|execut|download|install|launch)ing\b|\benabl(?:e|es|ed|ing) (?:the )?(?:malicious )?(?:macros?|content)\b|\b(?:excel|word|office|spreadsheet|document|documents|xls\w?|docm?|worksheet)\b[^.!?]{0,50}\bmacros?\b|\bmacro(?:s|-laced| code)\b[^.!?]{0,60}\bdownload`,
      'i',
    ),
  ],
  [
    'T1204.002',
    'lnk shortcut shortcuts',
    /\b(?:lnk|shortcuts?)\b(?: \((?:lnk|\.lnk)\))?(?: files?| shortcuts?)*\b[^.!?]{0,40}\b(?:to|that|which|disguis\w+|act(?:s|ed)? as)\b[^.!?]{0,30}\b(?:extract|run|execut|launch|download|fetch|deploy|start|trigger|conduit|as an?)/i,
    { exception: /\bstart-?up\b|\bpersist/i },
  ],
  [
    'T1204.001',
    'click clicks clicked clicking',
    /\b(?:click(?:s|ed|ing)?)\b[^.!?]{0,30}\b(?:links?|urls?|buttons?)\b|\b(?:links?|urls?|connection) (?:is|are|was) clicked\b/i,
  ],
  [
    'T1059.001',
    'powershell ps1',
    /\b(?:run|running|ran|execut\w+|launch\w*|invok\w+|dropp?\w*|download\w*)\b[^.!?]{0,40}\.ps1\b|\.ps1 (?:file|script|was)\b|\bpowershell(?:\.exe)?\b[^.!?]{0,60}\b(?:scripts?|commands?|payloads?|code|loaders?|stagers?|execut\w+|run|download\w*|one-liner|cmdlets?|invoke|launch\w*)\b|\b(?:us(?:e|es|ed|ing)|via|execut\w+|run(?:s|ning)?|launch\w*|starts?|started|invok\w+|through|spawn\w*|obfuscated|encoded|malicious|tools (?:such as|like|including))\b[^.!?]{0,40}\bpowershell\b/i,
  ],
  [
    'T1059.003',
    'batch cmd cmd.exe bat',
    /\b(?:run|running|ran|execut\w+|launch\w*|invok\w+|start\w*)\b[^.!?]{0,40}\.bat\b|\.bat (?:file|script|was)\b|\bbatch (?:scripts?|files?)\b|\b(?:via|using|execut\w+|spawn\w*|launch\w*|run\w*|through|invok\w+)\b[^.!?]{0,30}\bcmd(?:\.exe)?\b|\bcmd\.exe\b[^.!?]{0,40}\b(?:execut|run|spawn|launch)/i,
  ],
  [
    'T1059.004',
    'bash shell',
    /\b(?:bash|unix|linux) (?:shell )?(?:scripts?|commands?)\b|\bshell scripts?\b[^.!?]{0,60}\b(?:download|execut|install|run|deploy)/i,
  ],
  [
    'T1059.005',
    'vbs vbscript vba macro macros',
    /\b(?:vbscript|vba|vbs|visual basic)\b[^.!?]{0,40}\b(?:scripts?|macros?|code|files?|execut|download|run|payload)|\b(?:excel 4\.0|malicious|embedded|auto-?open|document|office|word|excel) macros?\b|\bmacro code\b/i,
  ],
  [
    'T1059.007',
    'javascript jscript',
    /\b(?:malicious|obfuscated|embedded|heavily|execut\w+|run\w*) (?:[\w-]+ )?(?:javascript|jscript)\b|\b(?:javascript|jscript) (?:files?|code|downloader|payload|loader|dropper)\b/i,
  ],
  [
    'T1059.006',
    'python',
    /\b(?:malicious|obfuscated|execut\w+|run\w*|launch\w*) (?:[\w-]+ )?python\b|\bpython(?:-based)? (?:backdoor|loader|stealer|payload|malware|implant)\b/i,
    { exception: /\b(?:we|our|researchers?)\b/i },
  ],
  ['T1059.002', 'applescript osascript', /\bapplescripts?\b|\bosascript\b/i],
  [
    'T1059.010',
    'autoit autohotkey',
    /\bauto(?:it|hotkey)\b[^.!?]{0,30}\b(?:scripts?|loader|payload|malware|compiled)\b/i,
  ],
  [
    'T1047',
    'wmi wmic management wmiexec',
    /\bwmiexec\b|\b(?:via|us(?:e|es|ed|ing)|through|execut\w+|leverag\w+|run\w*|remotely|tools (?:such as|like|including))\b[^.!?]{0,40}\b(?:wmi|wmic|windows management instrumentation)\b/i,
  ],
  ['T1569.002', 'psexec', /\bpsexec\b/i],
  [
    'T1203',
    'use-after-free confusion corruption',
    /\bexploit\w*\b[^.!?]{0,40}\b(?:use-after-free|type confusion|memory corruption)\b[^.!?]{0,30}\b(?:chrome|firefox|safari|webkit|edge|v8|internet explorer|acrobat|office)\b/i,
  ],
  [
    'T1203',
    'exploit exploits exploited exploiting exploitation',
    /\b(?:exploit(?:s|ed|ing|ation of)?)\b[^.!?]{0,70}\b(?:microsoft office|equation editor|word|excel|outlook|adobe (?:reader|acrobat|flash)|flash player|internet explorer|chrome|firefox|safari|webkit|winrar|7-zip|mshtml|browser)\b[^.!?]{0,40}\b(?:vulnerabilit\w+|flaws?|cve|bugs?|zero-?days?)|\b(?:microsoft office|equation editor|adobe (?:reader|flash)|internet explorer|chrome|winrar|7-zip|mshtml)\b[^.!?]{0,30}\b(?:vulnerabilit\w+|flaws?|zero-?days?|CVE-\d{4}-\d+)[^.!?]{0,60}\bexploit/i,
  ],
  [
    'T1610',
    'container containers',
    /\b(?:creat|deploy|launch|spin|spawn)\w*\b[^.!?]{0,40}\b(?:malicious|new|privileged|rogue)\b[^.!?]{0,20}\bcontainers?\b/i,
  ],
  // Persistence and privilege escalation
  ['T1053.005', 'task tasks schtasks', /\bscheduled[- ]tasks?\b|\bschtasks\b|\btask scheduler\b/i],
  ['T1053.003', 'cron crontab cronjob', /\bcron(?:tab| ?jobs?)\b|\bcron\b[^.!?]{0,40}\b(?:persist|execut|job|entry)/i],
  [
    'T1547.001',
    'startup autorun runonce currentversion key keys registry',
    /\b(?:run|runonce|autorun)(?: registry)? keys?\b|\bregistry run\b|\bcurrentversion\\run|\bstart-?up (?:folder|directory|programs)\b/i,
  ],
  [
    'T1543.003',
    'service services',
    /\b(?:creat|install|register)\w*\b[^.!?]{0,30}\b(?:windows|new|malicious|system|persistent) services?\b|\b(?:as|via) an? (?:new |windows |malicious )+service\b|\b(?:malicious|new|windows|remote) services? (?:was|were) (?:created|installed|registered)\b|\binstallation of an? (?:[\w.-]+ ){1,3}service\b|\b(?:modif|alter|hijack)\w*\b(?: of)? (?:[\w-]+ ){0,2}(?:windows|system|existing) services\b/i,
  ],
  [
    'T1546.003',
    'subscription subscriptions consumer',
    /\bwmi (?:event )?(?:subscriptions?|consumers?)\b|\bevent (?:consumer|subscription)s?\b/i,
  ],
  ['T1176', 'extension extensions', /\bmalicious (?:[\w-]+ )?(?:browser|chrome|edge|firefox) extensions?\b/i],
  ['T1221', 'template', /\b(?:remote )?template injection\b|\bremote templates?\b/i],
  ['T1543.002', 'systemd', /\bsystemd (?:[\w-]+ ){0,2}(?:services?|units?|timers?)\b/i],
  ['T1543.001', 'launchagent launchagents agent agents', /\blaunch ?agents?\b/i],
  ['T1505.003', 'webshell webshells web-shell web-shells shell shells', /\bweb[- ]?shells?\b/i],
  ['T1505.004', 'iis', /\biis (?:modules?|components?|backdoors?)\b/i],
  [
    'T1136',
    'account accounts user users',
    /\b(?:creat(?:e|es|ed|ing|ion of)|add(?:s|ed|ing)?)\b[^.!?]{0,25}\b(?:new|local|admin(?:istrator)?|domain|user|backdoor|rogue|privileged|hidden)\b[^.!?]{0,20}\b(?:accounts?|users?)\b|\b(?:new|local|admin(?:istrator)?|domain|backdoor|rogue|hidden) accounts? (?:was|were|is|are|has been|have been) (?:created|added)/i,
  ],
  [
    'T1098.003',
    'role roles admin administrator',
    /\b(?:grant|assign|add|elevat|promot)(?:s|ed|ing|e[sd]?)?\b[^.!?]{0,50}\b(?:global admin\w*|(?:administrator|admin|owner|privileged) roles?)\b/i,
  ],
  [
    'T1098.004',
    'ssh authorized_keys',
    /\bssh (?:public |authorized )?keys?\b[^.!?]{0,60}\b(?:add|writ|append|inject|persist|controlled|plant|install)|\b(?:add|writ|append|inject|plant|install|controlled)\w*\b[^.!?]{0,40}\bssh (?:public |authorized )?keys?\b|\bauthorized_keys\b/i,
  ],
  [
    'T1098.005',
    'mfa multi-factor multifactor authenticator',
    /\b(?:add|register|registr|enroll|enrol)\w*\b[^.!?]{0,50}\b(?:devices?|phones?|authenticators?|methods?)\b[^.!?]{0,40}\b(?:mfa|multi-?factor)\b|\b(?:add|register|registr|enroll|enrol)\w*\b (?:an? |their |its |the )?(?:[\w-]+ ){0,2}(?:mfa|multi-?factor(?: authentication)?|authenticator) (?:devices?|apps?|methods?|factors?|tokens?)\b/i,
    { exception: /\b(?:require|policy|policies|allow-?list)\b/i },
  ],
  [
    'T1484.001',
    'gpo gpos group',
    /\b(?:modif|abus|chang|alter|creat|deploy|distribut|push|via|through|us)\w*\b[^.!?]{0,40}\b(?:group policy|gpos?)\b|\b(?:group policy(?: objects?)?|gpos?)\b[^.!?]{0,40}\b(?:to (?:deploy|distribute|push|spread)|modif)/i,
  ],
  [
    'T1068',
    'privileges privilege',
    /\bescalat\w+ (?:their |its |his )?privileges?\b[^.!?]{0,40}\b(?:flaws?|vulnerabilit\w+|exploits?|zero-?days?|cve-\d{4}-\d+)\b/i,
  ],
  [
    'T1068',
    'privilege privileges elevate elevated escalate',
    /\b(?:exploit\w*|vulnerabilit\w+|flaws?|cve-\d{4}-\d+|byovd|vulnerable drivers?)\b[^.!?]{0,70}\b(?:to|for|allow\w*|enabl\w+|gain\w*)\b[^.!?]{0,30}\b(?:elevate|escalate|gain|local privilege|system|root)[^.!?]{0,30}\bprivileges?\b|\blocal privilege escalation (?:exploit|vulnerabilit|flaw)/i,
  ],
  ['T1548.002', 'uac account', /\bbypass\w*\b[^.!?]{0,30}\b(?:uac|user account control)\b|\buac[- ]bypass/i],
  ['T1611', 'container', /\bcontainer escapes?\b|\bescap\w+\b[^.!?]{0,30}\bcontainers?\b/i],
];
