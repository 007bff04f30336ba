/**
 * Plain statements of techniques in other languages. Each line is a technique and a pattern: `~` stands for further letters of a word and `…`
 * for some words between. `exploited = …` states the exploitation of a flaw, whose technique depends on the product. `advice = …` marks
 * sentences that advise readers, `denial = …` words before a statement that deny it, and `doubt = …` words beside an exploitation that leave
 * it open.
 */
export const romanceTechniqueTerms: Record<string, string> = {
  fr: `
    T1566 = hameçonnage~|phishing~|(?:courriels?|e-?mails?|mails?|messages?) … (?:pièces? jointes?|piégée?s?|malveillante?s? …(?:lien|fichier)s?)|liens? malveillants? … (?:courriels?|e-?mails?|sms)
    T1204 = (?:ouvr~|exécut~|cliqu~|activ~) … (?:pièces? jointes?|fichiers? (?:joints?|malveillants?|piégés?)|documents? (?:joints?|malveillants?|piégés?)|macros|liens?)|une fois (?:ouverte?|exécutée?|cliquée?)
    T1059.001 = (?:exécut|lanc|script|command|via|à l['’]aide)~ … powershell
    T1053.005 = tâches? planifiées?
    T1547.001 = clés? (?:de registre )?run|démarrage automatique
    T1055 = inject~ … (?:processus|mémoire)
    T1105 = télécharg~ … (?:charges? utiles?|malwares?|maliciels?|logiciels? malveillants?|scripts?|porte-dérobée|cheval de troie)
    T1027 = obfusqu~
    T1036 = (?:déguisée?s?|camouflée?s?|se faisant passer|se fait passer) (?:en|pour|comme) … (?:fichiers?|documents?|logiciels?|application~|installateurs?|mise à jour|pdf)
    T1113 = captur~ d['’]écran
    T1056.001 = frappes? (?:au |du |de |sur le )?clavier|enregistreur~ de frappe|touches (?:saisies|frappées)
    T1555.003 = (?:mots de passe|identifiants) … navigateurs?
    T1486 = (?:ont|a|été|sont|avaient|avait) chiffrée?s?|chiffrement (?:de|des) … (?:fichiers|données|serveurs|systèmes)
    T1110 = (?:par )?force brute
    T1685 = désactiv~ … (?:antivirus|defender|protections?|(?:outils?|solutions?|logiciels?) de sécurité)
    T1041 = (?:envo[iy]|transm|exfiltr)~ … (?:serveurs?|c2|attaquants?|pirates)
    T1219 = (?:logiciel|outil)s? (?:d['’]accès|de prise en main|d['’]administration) à distance
    T1195 = (?:attaque|compromission)~ … (?:chaînes? d['’]approvisionnement|supply chain)
    T1498 = attaques? (?:par |de |en )?(?:ddos|déni de service)
    T1078 = (?:avec|via|grâce à|à l['’]aide|utilis~) … (?:identifiants|comptes) (?:volés|compromis|dérobés|valides)
    T1082 = informations (?:sur le )?système
    exploited = exploit(?:ée?s?|ent|é|ation)~? … (?:vulnérabilité|faille)~|(?:vulnérabilité|faille)~ … (?:exploitée?s?|exploitation)
    doubt = pourrai(?:t|ent)|peu(?:t|vent)|si elles? étai~|permettrai~|aucune? exploitation
    advice = recommand~|il convient|doi(?:t|vent)|devrai~|n['’]ouvrez|ne (?:cliquez|téléchargez|jamais)|évite[rz]?|méfiez~|vérifiez|conseil~|se protéger|protégez
    denial = pas|aucune?|sans|ni`,
  es: `
    T1566 = phishing~|(?:correos?|e-?mails?|mensajes?) … (?:adjunt~|maliciosos?|fraudulentos?)|enlaces? maliciosos? … (?:correos?|mensajes?|sms)
    T1204 = (?:abr|ejecut|hac(?:er|en?) cli[ck]|puls|habilit)~ … (?:adjuntos?|archivos?|documentos?|macros|enlaces?)|una vez (?:abierto|ejecutado|descargado)
    T1059.001 = (?:ejecut|lanz|script|comando|mediante|a través|utiliz)~ … powershell
    T1053.005 = tareas? programadas?
    T1547.001 = claves? (?:de registro )?run|inicio automático
    T1055 = inyec~ … (?:procesos?|memoria)
    T1105 = descarg~ … (?:cargas? útil~|payloads?|malware|troyanos?|código malicioso|scripts?|puerta trasera|(?:programa|software|archivo)s? malicioso~)
    T1027 = ofuscad~
    T1036 = (?:disfrazad|camuflad)~ (?:de|como) … (?:archivos?|documentos?|aplicaci~|programas?|instalador~|actualizaci~|pdf)
    T1113 = captur~ (?:de )?(?:la )?pantallas?
    T1056.001 = pulsaciones (?:de |del )?tecl~|registr~ … (?:teclas|teclado)
    T1555.003 = (?:contraseñas|credenciales) … navegador~
    T1486 = cifr(?:ó|aron)|(?:fueron|han sido|quedaron|fue) (?:cifrad|encriptad)~|encript(?:ó|aron)
    T1110 = fuerza bruta
    T1685 = (?:desactiv|deshabilit)~ … (?:antivirus|defender|(?:software|herramientas?|soluciones) de seguridad)
    T1041 = (?:env[ií]|transmit|exfiltr)~ … (?:servidor~|c2|atacantes)
    T1219 = (?:software|herramientas?|programas?) de (?:acceso|control|administración) remot~
    T1195 = (?:ataque|compromis)~ … cadena de suministro
    T1498 = ataques? (?:de )?(?:ddos|denegación de servicio)
    T1078 = (?:con|mediante|usando|utilizando|a través de) … credenciales (?:robadas|comprometidas|válidas|filtradas)
    T1082 = información del sistema
    exploited = explot(?:an|ó|aron|ando|ad[ao]s?|ación)~? … (?:vulnerabilidad|fallo|falla)~|(?:vulnerabilidad|fallo|falla)~ … (?:explotad[ao]s?|explotación)
    doubt = podr[ií]a~?|puede~?|permitir[ií]a~?
    advice = recom[ie]+nd~|deb(?:e|en|ería~)|evit(?:e|en|ar)|no (?:abr|hag|descarg|cliqu|puls)~|desconf~|aconsej~|protegerse
    denial = no|sin|ni|ningun~`,
  pt: `
    T1566 = phishing~|(?:e-?mails?|mensage(?:m|ns)) … (?:anex|malicios|fraudulent)~|(?:mensage(?:m|ns)|whatsapp|sms|telegram) … (?:arquivos? (?:compactad|malicios|zip)~|\\.zip|links?)
    T1204 = (?:abr|execut|clic|habilit)~ … (?:anexos?|arquivos?|ficheiros?|documentos?|macros|links?|atalhos?)|(?:uma vez|ao ser|depois de) (?:abert|executad)~|clicam … (?:desencade|execut|instal)~
    T1059.001 = (?:execut|inici|script|comando|através|utiliz|instruç|dispar)~ … powershell
    T1053.005 = tarefas? (?:agendadas?|programadas?)
    T1547.001 = chaves? (?:de registro |do registro )?run|inicialização automática
    T1055 = inje(?:t|ç)~ … (?:processos?|memória)
    T1105 = (?:baix|descarreg|transfer|download)~ … (?:cargas? (?:út|malicios)~|payloads?|malware|trojans?|scripts?|(?:programa|software|arquivo|ficheiro)s? malicioso~)
    T1027 = ofuscad~
    T1036 = (?:disfarçad|camuflad)~ (?:de|como|em) … (?:arquivos?|ficheiros?|documentos?|aplicativos?|programas?|instalador~|atualizaç~|pdf)
    T1113 = (?:captur~|print~) (?:a |as |de |da |das )?telas?|capturas? de (?:tela|ecrã)
    T1056.001 = (?:registr|captur|grav)~ (?:tudo )?(?:o que|que|as|tudo)? ?(?:é |foi |o usuário |usuário )?(?:digit|tecl)~
    T1555.003 = (?:senhas|credenciais|palavras-passe) … navegador~
    T1486 = criptograf(?:ou|aram)|(?:foram|tiveram) … (?:criptografad|encriptad|cifrad)~|cifraram
    T1110 = força bruta
    T1685 = (?:desativ|desabilit)~ … (?:antivírus|defender|(?:software|ferramentas?|soluções|recursos) de segurança)
    T1041 = (?:envi|transmit|exfiltr)~ … (?:servidor~|c2|atacantes|criminosos)
    T1219 = (?:software|ferramentas?|programas?) de (?:acesso|controle|administração) remot~
    T1195 = (?:ataque|comprometiment)~ … cadeia de (?:suprimentos|fornecimento|abastecimento)
    T1498 = ataques? (?:de )?(?:ddos|negação de serviço)
    T1078 = (?:com|usando|utilizando|por meio de|através de) … credenciais (?:roubadas|comprometidas|válidas|vazadas)
    T1614 = (?:verific|chec)~ … (?:idioma|fuso horário|teclado)
    T1082 = informações do sistema
    exploited = explor(?:am|ou|aram|ando|ad[ao]s?|ação)~? … (?:vulnerabilidade|falha)~|(?:vulnerabilidade|falha)~ … (?:explorad[ao]s?|exploração)
    doubt = pod(?:e|em|eria|eriam)|permitiria~?
    advice = recomend~|dev(?:e|em|eria~)|evit(?:e|em|ar)|não (?:abr|cliqu|clic|baix|execut)~|desconfi~|aconselh~|se proteger|orient(?:a|am)
    denial = não|sem|nem|nenhum~`,
  it: `
    T1566 = phishing~|smishing~|malspam~|(?:e-?mail|messaggi~|pec) … (?:allegat|malevol|fraudolent)~
    T1204 = (?:apr|esegu|clicc|abilit)~ … (?:allegat~|file|document~|macro|link)|una volta (?:apert|eseguit)~
    T1059.001 = (?:esegu|avvi|script|comand|tramite|attraverso)~ … powershell
    T1053.005 = (?:attività|operazion[ei]) pianificat~
    T1547.001 = chiav[ei] (?:di registro )?run|avvio automatico
    T1055 = iniett~ … (?:process[oi]|memoria)
    T1105 = scaric~ … (?:payload|malware|trojan|script|codice malevolo|(?:programma|software|file) (?:malevol|dannos)~)
    T1027 = offuscat~
    T1036 = (?:mascherat|camuffat|travestit)~ da … (?:file|document~|applicazion~|programm~|installer|aggiornament~|pdf)
    T1113 = (?:schermat[ae]|cattur~ (?:dello |lo )?schermo)
    T1056.001 = (?:tasti (?:premuti|digitati)|battute|digitat~) … (?:tastiera|utente|vittima)|digitazion~ … tastiera
    T1555.003 = (?:password|credenziali) … (?:browser|navigator~)
    T1486 = (?:ha|hanno|sono stati|è stato|stati) (?:cifrat|crittografat|criptat)~
    T1110 = forza bruta
    T1685 = (?:disattiv|disabilit)~ … (?:antivirus|defender|(?:software|strumenti|soluzioni) di sicurezza)
    T1041 = (?:invi|trasmett|esfiltr)~ … (?:server|c2|attaccanti|criminali)
    T1219 = (?:software|strument[oi]|programm[ai]) (?:di|per) (?:l['’])?(?:accesso|controllo|assistenza) (?:da )?remot~
    T1195 = (?:attacc|compromission)~ … (?:supply chain|catena di (?:fornitura|approvvigionamento))
    T1498 = attacc~ (?:di tipo )?(?:ddos|denial)
    T1078 = (?:con|tramite|usando|utilizzando|attraverso) … credenziali (?:rubate|compromesse|valide|sottratte)
    T1082 = informazioni (?:di|sul|del) sistema
    exploited = sfrutt(?:ano|ato|ata|ate|ati|ando|amento)~? … (?:vulnerabilità|fall[ae])|(?:vulnerabilità|fall[ae]) … (?:sfruttat[aeio]|sfruttamento)
    doubt = p(?:uò|ossono|otrebbe~|otrà)|permetterebbe~?
    advice = raccomand~|consigli~|dovrebb~|deve|devono|evit(?:are|a|ate)|non (?:apri|clicc|scaric|aprire|cliccare)~|diffid~|proteggersi
    denial = non|senza|né|nessun~`,
};
